// Measures Pawl, the raw store beneath it, and its peers.
//   npm run bench                          W1 to W7 on SQLite
//   npm run bench -- W1 W4                 only these
//   npm run bench -- kernel                a benchmark of one part: `kernel.bench.ts`, a module with one function
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { cases } from './cases.ts'
import { type Measured, measure, sqlitePlaces } from './measure.ts'
import { describeMachine } from './report/machine.ts'
import { tellMeasured } from './report/terminal.ts'

const { positionals: wanted } = parseArgs({ allowPositionals: true })
const isWanted = (name: string): boolean =>
  wanted.some(
    (part) =>
      name.toLowerCase() === part.toLowerCase() || name.toLowerCase().startsWith(`${part.toLowerCase()} `),
  )

const suffix = '.bench.js'
const parts = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(suffix) && isWanted(file.slice(0, -suffix.length)))
  .map((file) => file.slice(0, -suffix.length))
const chosen = cases.filter(({ name }) => wanted.length === 0 || isWanted(name))
if (chosen.length + parts.length === 0) {
  console.error(`nothing to measure is called ${wanted.join(' or ')}`)
  process.exitCode = 1
}

for (const name of parts) {
  console.log(`\n# ${name}`)
  const { default: run } = (await import(`./${name}${suffix}`)) as { default: () => Promise<void> }
  await run()
}

if (chosen.length > 0) {
  const measured: Measured[] = []
  const places = sqlitePlaces()
  try {
    for (const one of chosen) {
      const result = await measure(one, places)
      tellMeasured(result)
      measured.push(result)
    }
  } finally {
    await places.remove()
  }
  const folder = new URL('../../results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  const date = new Date().toISOString()
  const file = new URL(`${date.replaceAll(':', '-')}.json`, folder)
  const command = `npm run bench${wanted.length === 0 ? '' : ` -- ${wanted.join(' ')}`}`
  writeFileSync(file, `${JSON.stringify({ date, command, machine: describeMachine(), measured }, null, 1)}\n`)
  console.log(`\nwritten to bench/results/${date.replaceAll(':', '-')}.json`)
}
