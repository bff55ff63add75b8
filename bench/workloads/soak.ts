import { openSync, readdirSync } from 'node:fs'
import { devNull } from 'node:os'
import type { Engine } from '@pawl/core'
import type { Line } from '../actor.ts'
import { check } from '../base/check.ts'
import { nowMs } from '../base/clock.ts'
import { residentMb } from '../base/memory.ts'
import { openPlace } from '../places/open-place.ts'
import type { Address, Place } from '../places/place.ts'
import { asking, sequence, sumOf, waiting } from '../procedures.ts'
import type { Sample } from '../soak/verdict.ts'
import { startEngine } from './workload.ts'

/** What is left behind on purpose, to see that it is found. */
export type Leak = 'runs' | 'handles'

export interface SoakJob {
  readonly address: Address
  readonly minutes: number
  readonly leak: Leak | null
}

const atOnce = 50
const runsOfEach = 3
const sampleCount = 120

/** Works for so many minutes, tells a sample now and then, and null at the end. */
export async function workForLong({ address, minutes, leak }: SoakJob, line: Line): Promise<void> {
  const place = openPlace(address)
  const engine = await startEngine(place)
  const leaked: unknown[] = []
  const from = nowMs()
  const sampleMs = (minutes * 60_000) / sampleCount
  let [runs, samples] = [0, 0]
  for (let minute = 0; minute < minutes; minute = (nowMs() - from) / 60_000) {
    await workABit(engine)
    runs += atOnce * runsOfEach
    if (leak === 'runs')
      leaked.push(...Array.from({ length: atOnce * runsOfEach }, () => new Array(12).fill(0)))
    if (leak === 'handles' && leaked.length < Math.floor(minute)) leaked.push(openSync(devNull, 'r'))
    if (nowMs() - from < samples * sampleMs) continue
    line.tell(await takeSample(place, (nowMs() - from) / 60_000, runs))
    samples++
  }
  await engine.stop()
  line.tell(null)
}

/** Everything that could leave something behind: steps, signals, answers, and the runs that end with them. */
async function workABit(engine: Engine): Promise<void> {
  await Promise.all(
    Array.from({ length: atOnce }, async (_, i) => {
      const run = await engine.run(sequence, 10)
      check('the sum of all steps', await run.result(), sumOf(10))
      const waits = await engine.run(waiting)
      await waits.signal('go', i)
      check('the signal', await waits.result(), i)
      const asks = await engine.run(asking)
      const ask = await engine.inbox.next({ run: asks.id })
      await engine.inbox.answer(ask.id, { value: i }, { as: 'user:ana' })
      check('the answer', await asks.result(), i)
    }),
  )
}

async function takeSample(place: Place, minute: number, runs: number): Promise<Sample> {
  const { database, wal } = await place.fileBytes()
  const resident = residentMb()
  return {
    minute,
    runs,
    heapMb: process.memoryUsage().heapUsed / 2 ** 20,
    residentMb: resident,
    handles: countHandles(),
    databaseMb: database / 2 ** 20,
    walMb: wal / 2 ** 20,
  }
}

/** Open files and sockets, where the system lists them; what keeps the process alive, elsewhere. */
function countHandles(): number {
  return process.platform === 'linux'
    ? readdirSync('/proc/self/fd').length
    : process.getActiveResourcesInfo().length
}
