import { createEngine, procedure } from '@pawl/core'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { z } from 'zod'
import type { Line } from '../actor.ts'
import { check } from '../base/check.ts'
import { timeOf } from '../base/clock.ts'
import { residentMb } from '../base/memory.ts'
import { Pieces } from '../base/pieces.ts'
import { openPlace } from '../places/open-place.ts'
import type { Place } from '../places/place.ts'
import { besidePlain, ratesOf } from './beside-plain.ts'
import { errorsOnly, type Figures, type Job, Tally } from './workload.ts'

const pageSize = 1_000
const countTo = (length: number): readonly number[] => Array.from({ length }, (_, i) => i)
const counts = { input: z.number(), output: z.number() }

const child = procedure({ name: 'child', ...counts }, async (_, i) => i)
const parent = procedure({ name: 'parent', ...counts }, async (ctx, count) => {
  const results = await Promise.all(countTo(count).map((i) => ctx.call(child, i)))
  return results.length
})

/** The same with a step in place of each child. */
const stepping = procedure({ name: 'stepping', ...counts }, async (ctx, count) => {
  const results = await Promise.all(countTo(count).map((i) => ctx.step('step', () => i)))
  return results.length
})

/** Children of one run beside steps of one run, all at once. */
export function childrenBesideSteps(job: Job, line: Line): Promise<Figures> {
  return besidePlain(job, line, { own: parent, plain: stepping, others: [child] }, ratesOf)
}

/** One run and as many children as it may have: its log, memory, and how long it holds the event loop. */
export async function familyOfMany({ address, size: count = 10_000 }: Job): Promise<Figures> {
  const place = openPlace(address)
  const procedures = [parent, child]
  const engine = await createEngine({ store: place.store(), logger: errorsOnly, procedures })
  check('the first result', await (await engine.run(parent, 100)).result(), 100)
  const before = { mb: residentMb(), disk: await place.diskBytes() }
  let totalMs = 0
  let id = ''
  const longest = await new Pieces().longestOf(async () => {
    totalMs = await timeOf(async () => {
      const run = await engine.run(parent, count)
      id = run.id
      check('the results', await run.result(), count)
    })
  })
  const tally = new Tally()
  const disk = (await place.diskBytes()) - before.disk
  const log = await sizeOfLog(place, id)
  tally.add({
    totalMs,
    perSecond: (count / totalMs) * 1_000,
    longestMs: longest.ms,
    longestWithGarbageMs: longest.withGarbageMs,
    addedMb: residentMb() - before.mb,
    logEvents: log.events,
    logBytes: log.bytes / count,
    diskBytes: disk / count,
  })
  await engine.stop()
  return tally.figures
}

/** The events of a log, and the bytes of their payloads. */
async function sizeOfLog(
  place: Place,
  id: string,
): Promise<{ readonly events: number; readonly bytes: number }> {
  const port = connectTo(place.store()) as StorePort
  await port.open()
  const row = await port.runs.find(id)
  if (row === null) throw new Error(`run "${id}" is missing`)
  let bytes = 0
  for (let seq = 0; seq < row.head; seq += pageSize)
    for (const { payload } of await port.log.load(row.run, seq, pageSize)) bytes += payload?.length ?? 0
  await port.close()
  return { events: row.head, bytes }
}
