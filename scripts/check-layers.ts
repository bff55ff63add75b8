// Checks that dependencies point one way: the layers inside core, the borders between packages, no import
// cycles, no two folders that import each other, and clock, chance and Node only where they belong.  A type import counts as much as any other.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findCycle } from './layers/cycles.ts'
import { explainMutualFolders } from './layers/folders.ts'
import { readModule } from './layers/module.ts'
import { explainFile, explainImport, explainUse } from './layers/rules.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const faults: string[] = []
const graph = new Map<string, string[]>()

for (const file of listFiles()) {
  const { imports, uses } = readModule(file, readFileSync(posix.join(root, file), 'utf8'))
  graph.set(file, [])
  const misplaced = explainFile(file)
  if (misplaced) faults.push(`${file}  ${misplaced}`)
  for (const { specifier, line } of imports) {
    const isLocal = specifier.startsWith('.')
    const target = isLocal ? posix.join(posix.dirname(file), specifier) : specifier
    if (isLocal) graph.get(file)?.push(target)
    const reason = explainImport(file, target)
    if (reason) faults.push(`${file}:${line}  imports ${target}: ${reason}`)
  }
  for (const { name, line } of uses) {
    const reason = explainUse(file, name)
    if (reason) faults.push(`${file}:${line}  uses ${name}: ${reason}`)
  }
}

const cycle = findCycle(graph)
if (cycle) faults.push(`import cycle: ${cycle.join(' -> ')}`)
const sources = [...graph].filter(([file]) => /^packages\/[^/]+\/src\//.test(file))
faults.push(...explainMutualFolders(new Map(sources)))

for (const fault of faults) console.error(fault)
console.log(`layers: ${graph.size} files, ${faults.length} faults`)
process.exitCode = faults.length > 0 ? 1 : 0

/** Every TypeScript file of packages, examples and tests, from the root, with forward slashes. */
function listFiles(): string[] {
  return ['packages', 'examples', 'test', 'bench'].flatMap((folder) =>
    readdirSync(posix.join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => posix.join(folder, path.replaceAll('\\', '/')))
      .filter((path) => /\.tsx?$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path)),
  )
}
