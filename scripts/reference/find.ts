import { join } from 'node:path'
import { type Declarations, readDeclarations, readWords } from './declarations.ts'
import type { Find } from './render.ts'

/** Finds declarations in `packages`; reads each file once. */
export function createFinder(root: string): Find {
  const words = readWords(join(root, 'packages/core/src/base/words.ts'))
  const read = new Map<string, Declarations>()
  return (file, name) => {
    const declarations = read.get(file) ?? readDeclarations(join(root, 'packages', file), words)
    read.set(file, declarations)
    const found = declarations.get(name)
    if (found === undefined) throw new Error(`packages/${file} has no ${name}`)
    return found
  }
}
