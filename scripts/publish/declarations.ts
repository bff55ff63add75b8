import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A relative module in `from './x.ts'`, `import './x.ts'` or `import('./x.ts')`. */
const relativeModule = /(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.[jt]s['"]/g

/** Copies the declarations that the entry points reach, without links to maps, whose sources are not published. */
export async function copyDeclarations(
  source: string,
  target: string,
  entries: readonly string[],
): Promise<void> {
  const reached = new Set(entries)
  for (const module of reached) {
    const text = await readFile(join(source, 'dist', `${module}.d.ts`), 'utf8')
    const file = join(target, 'dist', `${module}.d.ts`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text.replace(/\n?\/\/# sourceMappingURL=.*$/, '\n'))
    // Examples in docstrings import, too.
    for (const [, path] of text.replaceAll(/\/\*[\s\S]*?\*\//g, '').matchAll(relativeModule))
      reached.add(join(dirname(module), path as string))
  }
}
