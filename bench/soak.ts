// Works for long on both stores at once, each in a process of its own, and fails when something grows there
// that should not: memory or open handles. Kept in bench/results.
//   npm run bench:soak                     30 minutes
//   npm run bench:soak -- --publish        and writes its section of docs/reports/performance.md
//   npm run bench:soak -- --minutes 3 --store sqlite
//   npm run bench:soak -- --leak runs      leaves a hundred bytes of each run: must fail
//   npm run bench:soak -- --leak handles   leaves a handle open each minute: must fail
import { parseArgs } from 'node:util'
import { startActor } from './actor.ts'
import type { Address } from './places/place.ts'
import { type Places, postgresPlaces, sqlitePlaces } from './places/places.ts'
import { describeMachine } from './report/machine.ts'
import { nameStore, show } from './report/numbers.ts'
import { publishSoak } from './report/publish.ts'
import { keepResult } from './report/results.ts'
import { type Soak, type SoakedStore, tellGrowthBound } from './report/soak.ts'
import { assess, diskPerRun, type Sample } from './soak/verdict.ts'
import type { SoakJob } from './workloads/soak.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    store: { type: 'string' },
    leak: { type: 'string' },
    publish: { type: 'boolean', default: false },
  },
})
const minutes = Number(options.minutes)
const stores: { readonly [kind in Address['kind']]: () => Places | Promise<Places> } = {
  sqlite: sqlitePlaces,
  postgres: postgresPlaces,
}
const kinds = (Object.keys(stores) as Address['kind'][]).filter((kind) => (options.store ?? kind) === kind)
const leak =
  options.leak === undefined || options.leak === 'runs' || options.leak === 'handles'
    ? (options.leak ?? null)
    : undefined
if (!(minutes > 0) || kinds.length === 0 || leak === undefined) {
  console.error('--minutes takes a number, --store sqlite or postgres, --leak runs or handles')
  process.exit(1)
}

const machine = describeMachine()
const soaked = await Promise.all(kinds.map(soak))
for (const { kind, samples, growths } of soaked) {
  console.log(
    `\n${nameStore(kind)}: ${(samples.at(-1)?.runs ?? 0).toLocaleString('en')} runs, ${show(diskPerRun(samples))} B of the database for each`,
  )
  for (const growth of growths) {
    const verdict = growth.isGood ? 'ok    ' : 'FAILED'
    console.log(`  ${verdict}  ${growth.what.padEnd(16)} ${tellGrowthBound(growth)}`)
  }
}
if (leak === null) {
  const command = ['npm run bench:soak', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])]
  const date = new Date().toISOString()
  const whole: Soak = { date, command: command.join(' '), machine, minutes, stores: soaked }
  keepResult(`soak-${date}`, whole)
  if (options.publish) publishSoak(whole)
}
if (!soaked.every(({ growths }) => growths.every(({ isGood }) => isGood))) process.exitCode = 1

async function soak(kind: Address['kind']): Promise<SoakedStore> {
  const places = await stores[kind]()
  try {
    const worker = startActor('soak', { address: await places.make(), minutes, leak } as SoakJob)
    const samples: Sample[] = []
    for (let next = await worker.hear(); next !== null; next = await worker.hear()) {
      const sample = next as Sample
      samples.push(sample)
      console.log(tellSample(kind, sample))
    }
    await worker.result()
    return { kind, samples, growths: assess(samples) }
  } finally {
    await places.remove()
  }
}

function tellSample(kind: Address['kind'], sample: Sample): string {
  const cells = [
    `${show(sample.minute)} min`,
    `${sample.runs.toLocaleString('en')} runs`,
    `${sample.heapMb.toFixed(2)} MB heap`,
    `${show(sample.residentMb)} MB resident`,
    `${sample.handles} handles`,
    `${show(sample.databaseMb)} MB database`,
    `${show(sample.walMb)} MB WAL`,
  ]
  return nameStore(kind).padEnd(11) + cells.map((cell) => cell.padStart(17)).join('')
}
