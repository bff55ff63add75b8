// Works for long and watches what is left behind.
//   npm run bench:soak                     30 minutes
//   npm run bench:soak -- --minutes 2
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { check } from './base/check.ts'
import { nowMs } from './base/clock.ts'
import { residentMb } from './base/memory.ts'
import { slopeOf } from './base/statistics.ts'
import { openPlace } from './places/open-place.ts'
import { asking, sequence, sumOf, waiting } from './procedures.ts'
import { show } from './report/numbers.ts'
import { startEngine } from './workloads/workload.ts'

const { values: options } = parseArgs({ options: { minutes: { type: 'string', default: '30' } } })
const totalMs = Number(options.minutes) * 60_000
const sampleMs = Math.min(10_000, totalMs / 40)

interface Sample {
  readonly minute: number
  readonly residentMb: number
  readonly heapMb: number
  readonly handles: number
  readonly runs: number
}

const folder = mkdtempSync(join(process.env['BENCH_FOLDER'] ?? tmpdir(), 'pawl-soak-'))
const engine = await startEngine(openPlace({ kind: 'sqlite', file: join(folder, 'soak.db') }))
const samples: Sample[] = []
const from = nowMs()
let runs = 0
while (nowMs() - from < totalMs) {
  await workABit()
  if (nowMs() - from >= samples.length * sampleMs) takeSample()
}
await engine.stop()
rmSync(folder, { recursive: true })
report()

/** Everything that leaves something behind: steps, signals, answers, and the runs that end with them. */
async function workABit(): Promise<void> {
  await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      const run = await engine.run(sequence, 10)
      check('the sum of all steps', await run.result(), sumOf(10))
      const waits = await engine.run(waiting)
      await waits.signal('go', i)
      check('the signal', await waits.result(), i)
      const asks = await engine.run(asking)
      const ask = await engine.inbox.next({ run: asks.id })
      await engine.inbox.answer(ask.id, { value: i }, { as: 'user:ana' })
      check('the answer', await asks.result(), i)
      runs += 3
    }),
  )
}

function takeSample(): void {
  const sample: Sample = {
    minute: (nowMs() - from) / 60_000,
    residentMb: residentMb(),
    heapMb: process.memoryUsage().heapUsed / 2 ** 20,
    handles: countHandles(),
    runs,
  }
  samples.push(sample)
  console.log(
    `${show(sample.minute).padStart(8)} min ${show(sample.residentMb).padStart(8)} MB resident ${show(sample.heapMb).padStart(8)} MB heap ${String(sample.handles).padStart(5)} handles ${String(runs).padStart(10)} runs`,
  )
}

/** Open files and sockets, where the system lists them; what keeps the process alive, elsewhere. */
function countHandles(): number {
  return process.platform === 'linux'
    ? readdirSync('/proc/self/fd').length
    : process.getActiveResourcesInfo().length
}

/** The first third warms up: code is compiled, caches fill. A leak shows in the rest. */
function report(): void {
  const steady = samples.slice(Math.floor(samples.length / 3))
  const slope = (value: (sample: Sample) => number): number =>
    slopeOf(steady.map((sample) => [sample.minute, value(sample)]))
  console.log(
    `\n${runs.toLocaleString('en')} runs; slopes of the last ${steady.length} of ${samples.length} samples:`,
  )
  console.log(`  resident memory  ${show(slope((sample) => sample.residentMb) * 60)} MB/h`)
  console.log(`  heap             ${show(slope((sample) => sample.heapMb) * 60)} MB/h`)
  console.log(`  handles          ${show(slope((sample) => sample.handles) * 60)} /h`)
}
