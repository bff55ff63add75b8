// Runs the benchmarks of this folder (`<name>.bench.ts`, each a module whose default export is an async
// function), or those whose name contains an argument:  npm run bench -- kernel
import { readdirSync } from 'node:fs'

const wanted = process.argv.slice(2)
const suffix = '.bench.js'
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(suffix))
  .map((file) => file.slice(0, -suffix.length))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))

if (names.length === 0) {
  console.error(wanted.length > 0 ? `no benchmark is called ${wanted.join(' or ')}` : 'there is no benchmark')
  process.exitCode = 1
}
for (const name of names) {
  console.log(`\n# ${name}`)
  const { default: run } = (await import(`./${name}${suffix}`)) as { default: () => Promise<void> }
  await run()
}
