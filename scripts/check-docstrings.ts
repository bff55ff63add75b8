// Counts the declarations that the public entry points export without a docstring, and fails if there is one.  usage: node --import tsx scripts/check-docstrings.ts
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listExports } from './docstrings/exports.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Entry points that are not public. */
const isInternal = (path: string): boolean => path === './internal' || path === './package.json'

const undocumented = new Set<string>()
let count = 0
for (const name of readdirSync(join(root, 'packages'))) {
  const folder = join(root, 'packages', name)
  const { exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  for (const [path, conditions] of Object.entries<{ '@pawl/source': string }>(exports)) {
    if (isInternal(path)) continue
    for (const one of listExports(join(folder, conditions['@pawl/source']))) {
      count += 1
      if (!one.isDocumented) undocumented.add(`${relative(root, one.file)}:${one.line}: ${one.name}`)
    }
  }
}
for (const one of [...undocumented].sort()) console.error(`${one} has no docstring`)
console.log(`${undocumented.size} of ${count} exported declarations have no docstring`)
if (undocumented.size > 0) process.exitCode = 1
