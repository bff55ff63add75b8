// Measures Pawl, the raw store beneath it, and its peers.
//   npm run bench                          W1 to W7, replay and payloads on SQLite: two minutes
//   npm run bench -- --all                 everything, on SQLite and on PostgreSQL
//   npm run bench -- stalls                the longest time the engine holds the event loop, on both stores
//   npm run bench -- W1 replay             only these; with --all on both stores
//   npm run bench -- --peers dbos,absurd                others beside it at W1 to W7 and SIGKILL, installed first
//   npm run bench -- --peers dbos,restate W4 kill       only these; for absurd, whose schema is not in its npm
//                                          package, BENCH_ABSURD_SQL is the file absurd.sql of its release
//   npm run bench -- --all --publish       and writes docs/reports/performance.md; on a busy machine only with --force
//   npm run bench -- --against HEAD~3      this working tree beside another commit: W1 to W7, replay, start-up and
//                                          disk on both stores, by turns, with a control (see CONTRIBUTING.md)
//   npm run bench -- w1 w2 --against HEAD~3 --rounds 9 --store sqlite
//                                          only these, more exactly, on one store
//   npm run bench:node24 -- w1 w2 --drivers
//                                          the two drivers of the SQLite store by turns; needs a Node with node:sqlite
//   npm run bench -- kernel                a benchmark of one part: `kernel.bench.ts`, a module with one function;
//                                          --all has it, too
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { measureAgainst } from './against/against.ts'
import { chooseCompared, chooseFolder, chooseStores, readRounds } from './against/choices.ts'
import { measureDrivers } from './against/drivers.ts'
import { type Case, cases, isNamed } from './cases.ts'
import { type Measured, measure } from './measure.ts'
import { choosePeers, measurePeers, tellShortfalls } from './peers.ts'
import { type Places, postgresPlaces, sqlitePlaces } from './places/places.ts'
import { tellGrowth } from './report/growth.ts'
import { describeMachine } from './report/machine.ts'
import { publish, refuse } from './report/publish.ts'
import { keepResult } from './report/results.ts'
import type { Part, PartFigure, Session } from './report/session.ts'
import { tellMeasured } from './report/terminal.ts'

const { positionals: wanted, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    peers: { type: 'string', default: '' },
    publish: { type: 'boolean', default: false },
    force: { type: 'boolean', default: false },
    against: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    store: { type: 'string' },
    drivers: { type: 'boolean', default: false },
  },
})

// Before anything of its own makes the machine busy.
const machine = describeMachine()
const refusal = options.publish && !options.force ? refuse(machine) : null
if (refusal !== null) {
  console.error(refusal)
  process.exit(1)
}
const peers = choosePeers(options.peers)

const compared = options.against === undefined && !options.drivers ? [] : chooseCompared(wanted)
if (options.drivers) await compareDrivers()
else if (options.against === undefined) await measureSession()
else if (compared.length === 0) refuseNames()
else {
  const isGood = await measureAgainst({
    revision: options.against,
    cases: compared,
    rounds: readRounds(options.rounds),
    folder: chooseFolder(),
    stores: chooseStores(options.store),
  })
  if (!isGood) process.exitCode = 1
}

async function compareDrivers(): Promise<void> {
  if (compared.length === 0) return refuseNames()
  if (process.getBuiltinModule('node:sqlite') === undefined) {
    console.error(
      `Node ${process.versions.node} has no node:sqlite: use \`npm run bench:node24 -- --drivers\`, or a newer Node`,
    )
    process.exitCode = 1
    return
  }
  await measureDrivers({ cases: compared, rounds: readRounds(options.rounds), folder: chooseFolder() })
}

async function measureSession(): Promise<void> {
  const suffix = '.bench.js'
  const parts = readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length))
    .filter((part) => (wanted.length === 0 ? options.all : isNamed(part, wanted)))
  const chosen = cases.filter(({ name, isLong }) =>
    wanted.length === 0 ? options.all || isLong !== true : isNamed(name, wanted),
  )
  // The one workload that only peers have.
  const killsPeers = peers.length > 0 && wanted.includes('kill')
  if (chosen.length + parts.length === 0 && !killsPeers) refuseNames()

  const measuredParts: Part[] = []
  for (const name of parts) {
    console.log(`\n# ${name}`)
    const { default: run } = (await import(`./${name}${suffix}`)) as {
      default: () => Promise<readonly PartFigure[]>
    }
    measuredParts.push({ name, figures: await run() })
  }
  if (chosen.length === 0 && !killsPeers) return

  // Peers are beside Pawl on PostgreSQL, too.
  const onPostgres = options.all || peers.length > 0 || chosen.every(({ only }) => only === 'postgres')
  const measured = [...(await measureOn(sqlitePlaces(), chosen))]
  const chosenOnPostgres = chosen.filter(({ onBoth }) => onPostgres || onBoth === true)
  if (chosenOnPostgres.length > 0)
    measured.push(...(await measureOn(await postgresPlaces(), chosenOnPostgres)))
  const command = [
    'npm run bench',
    ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : []),
  ].join(' ')
  const isWanted = (workload: string): boolean => wanted.length === 0 || isNamed(workload, wanted)
  const beside = await measurePeers(peers, isWanted, measured)
  keep({ date: new Date().toISOString(), command, machine, measured, peers: beside, parts: measuredParts })
  // Only now: what the others did has been measured and written.
  for (const shortfall of tellShortfalls(beside)) {
    console.error(shortfall)
    process.exitCode = 1
  }
}

function refuseNames(): void {
  console.error(`nothing to measure is called ${wanted.join(' or ')}`)
  process.exitCode = 1
}

async function measureOn(places: Places, chosen: readonly Case[]): Promise<readonly Measured[]> {
  const measured: Measured[] = []
  try {
    for (const one of chosen) {
      if (one.only !== undefined && one.only !== places.kind) continue
      const result = await measure(one, places)
      tellMeasured(result)
      measured.push(result)
    }
  } finally {
    await places.remove()
  }
  const growth = tellGrowth(measured)
  if (growth !== null) console.log(`\n${growth}`)
  return measured
}

function keep(session: Session): void {
  keepResult(session.date, session)
  if (options.publish) publish(session)
}
