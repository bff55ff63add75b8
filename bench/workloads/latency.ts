import type { Engine, RunHandle } from '@pawl/core'
import { createClient } from '@pawl/core'
import { type Line, startActor } from '../actor.ts'
import { check } from '../base/check.ts'
import { type Cost, costOf, nowMs, sleep, timeOf } from '../base/clock.ts'
import { pace } from '../base/pace.ts'
import { quantileOf } from '../base/statistics.ts'
import { openPlace } from '../places/open-place.ts'
import type { Address } from '../places/place.ts'
import { asking, sequence, waiting } from '../procedures.ts'
import { type Figures, type Job, openRawBeside, roundsOf, startEngine, Tally, warmUpFor } from './workload.ts'

/** W4: from the start of a run of one step to its result. */
export async function startToResult(job: Job, line: Line): Promise<Figures> {
  const engine = await startEngine(openPlace(job.address))
  const figures = await repeat(job, line, callsOf(job, pace.starts), () =>
    costOf(async () => check('result', await (await engine.run(sequence, 1)).result(), 0)),
  )
  await engine.stop()
  return figures
}

/** The commits of W5: the signal, its receipt, the end. */
const commitsOfSignal = 3

/** W5: from sending a signal to a waiting run to its end, beside as many raw commits after the same rest. */
export async function signalToEnd(job: Job, line: Line): Promise<Figures> {
  const place = openPlace(job.address)
  const engine = await startEngine(place)
  const raw = await openRawBeside(place, job)
  const calls = callsOf(job, pace.signals)
  const rawMs: number[] = []
  const figures = await repeat(job, line, calls, async (i) => {
    if (raw !== null && i % 5 === 0) {
      await sleep(pace.restMs)
      rawMs.push(await timeOf(() => raw.write(commitsOfSignal)))
    }
    const run = await startWaiting(engine)
    return costOf(async () => {
      await run.signal('go', i)
      check('result', await run.result(), i)
    })
  })
  await raw?.close()
  await engine.stop()
  if (raw === null) return figures
  // The rounds that warmed up come first.
  const counted = rawMs.slice(-job.rounds * Math.ceil(calls / 5))
  return { ...figures, rawP50Ms: [quantileOf(counted, 0.5)] }
}

/** W5 with a person's answer in place of a signal. */
export async function answerToEnd(job: Job, line: Line): Promise<Figures> {
  const engine = await startEngine(openPlace(job.address))
  const figures = await repeat(job, line, callsOf(job, pace.signals), async (i) => {
    const run = await engine.run(asking)
    const ask = await engine.inbox.next({ run: run.id })
    await sleep(pace.restMs)
    return costOf(async () => {
      await engine.inbox.answer(ask.id, { value: i }, { as: 'user:ana' })
      check('result', await run.result(), i)
    })
  })
  await engine.stop()
  return figures
}

/** W5 with the signal sent by another process; the end is seen by the worker's own. */
export async function foreignSignalToEnd(job: Job, line: Line): Promise<Figures> {
  const engine = await startEngine(openPlace(job.address))
  const sender = startActor('sender', job.address)
  const figures = await repeat(job, line, callsOf(job, pace.signals), async (i) => {
    const run = await startWaiting(engine)
    let endedAt = 0
    const ended = run.result().then((result) => {
      check('result', result, i)
      endedAt = nowMs()
    })
    const { cpuMs } = await costOf(() => {
      sender.tell({ id: run.id, value: i })
      return ended
    })
    return { ms: endedAt - ((await sender.hear()) as number), cpuMs }
  })
  sender.tell(null)
  await sender.result()
  await engine.stop()
  return figures
}

/** The other process: sends what it is told, and tells when it began to. */
export async function sendSignals(address: Address, line: Line): Promise<void> {
  const client = createClient({ store: openPlace(address).store() })
  for (;;) {
    const next = (await line.hear()) as { readonly id: string; readonly value: number } | null
    if (next === null) break
    const sentAt = nowMs()
    await client.get(waiting, next.id).signal('go', next.value)
    line.tell(sentAt)
  }
  await client.stop()
}

async function startWaiting(engine: Engine): Promise<RunHandle<number, { signals: { go: number } }>> {
  const run = await engine.run(waiting)
  await sleep(pace.restMs)
  return run as unknown as RunHandle<number, { signals: { go: number } }>
}

function callsOf({ size }: Job, usual: number): number {
  return size ?? usual
}

async function repeat(
  job: Job,
  line: Line,
  calls: number,
  call: (i: number) => Promise<Cost>,
): Promise<Figures> {
  const all: number[] = []
  const tally = new Tally()
  const once = async (): Promise<readonly Cost[]> => {
    const costs: Cost[] = []
    for (let i = 0; i < calls; i++) costs.push(await call(i))
    return costs
  }
  await warmUpFor(job, once)
  for await (const _ of roundsOf(job, line)) {
    const costs = await once()
    const times = costs.map(({ ms }) => ms)
    all.push(...times)
    const cpuMs = costs.reduce((sum, cost) => sum + cost.cpuMs, 0)
    tally.add({
      p50Ms: quantileOf(times, 0.5),
      p99Ms: quantileOf(times, 0.99),
      cpuUsPerCall: (cpuMs / calls) * 1_000,
    })
  }
  return { ...tally.figures, latencyMs: all }
}
