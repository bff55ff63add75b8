import type { Engine, RunHandle } from '@pawl/core'
import { createClient } from '@pawl/core'
import { type Line, startActor } from '../actor.ts'
import { check } from '../base/check.ts'
import { nowMs, sleep, timeOf } from '../base/clock.ts'
import { pace, warmUp } from '../base/pace.ts'
import { quantileOf } from '../base/statistics.ts'
import { openPlace } from '../places/open-place.ts'
import type { Address } from '../places/place.ts'
import { asking, sequence, waiting } from '../procedures.ts'
import { type Figures, type Job, startEngine } from './workload.ts'

/** W4: from the start of a run of one step to its result. */
export async function startToResult({ address, rounds, size: calls = pace.starts }: Job): Promise<Figures> {
  const engine = await startEngine(openPlace(address))
  const figures = await repeat(rounds, calls, () =>
    timeOf(async () => check('result', await (await engine.run(sequence, 1)).result(), 0)),
  )
  await engine.stop()
  return figures
}

/** The commits of W5: the signal, its receipt, the end. */
const commitsOfSignal = 3

/** W5: from sending a signal to a waiting run to its end, beside as many raw commits after the same rest. */
export async function signalToEnd({ address, rounds, size: calls = pace.signals }: Job): Promise<Figures> {
  const place = openPlace(address)
  const engine = await startEngine(place)
  const raw = await place.openRaw()
  const rawMs: number[] = []
  const figures = await repeat(rounds, calls, async (i) => {
    if (i % 5 === 0) {
      await sleep(pace.restMs)
      rawMs.push(await timeOf(() => raw.write(commitsOfSignal)))
    }
    const run = await startWaiting(engine)
    return timeOf(async () => {
      await run.signal('go', i)
      check('result', await run.result(), i)
    })
  })
  await raw.close()
  await engine.stop()
  // The rounds that warmed up come first.
  const counted = rawMs.slice(-rounds * Math.ceil(calls / 5))
  return { ...figures, rawP50Ms: [quantileOf(counted, 0.5)] }
}

/** W5 with a person's answer in place of a signal. */
export async function answerToEnd({ address, rounds, size: calls = pace.signals }: Job): Promise<Figures> {
  const engine = await startEngine(openPlace(address))
  const figures = await repeat(rounds, calls, async (i) => {
    const run = await engine.run(asking)
    const ask = await engine.inbox.next({ run: run.id })
    await sleep(pace.restMs)
    return timeOf(async () => {
      await engine.inbox.answer(ask.id, { value: i }, { as: 'user:ana' })
      check('result', await run.result(), i)
    })
  })
  await engine.stop()
  return figures
}

/** W5 with the signal sent by another process; the end is seen by the worker's own. */
export async function foreignSignalToEnd({
  address,
  rounds,
  size: calls = pace.signals,
}: Job): Promise<Figures> {
  const engine = await startEngine(openPlace(address))
  const sender = startActor('sender', address)
  const figures = await repeat(rounds, calls, async (i) => {
    const run = await startWaiting(engine)
    const ended = run.result().then((result) => {
      check('result', result, i)
      return nowMs()
    })
    sender.tell({ id: run.id, value: i })
    const endedAt = await ended
    return endedAt - ((await sender.hear()) as number)
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

async function repeat(rounds: number, calls: number, call: (i: number) => Promise<number>): Promise<Figures> {
  const all: number[] = []
  const p50Ms: number[] = []
  const p99Ms: number[] = []
  const once = async (): Promise<number[]> => {
    const times: number[] = []
    for (let i = 0; i < calls; i++) times.push(await call(i))
    return times
  }
  await warmUp(once)
  for (let round = 0; round < rounds; round++) {
    const times = await once()
    all.push(...times)
    p50Ms.push(quantileOf(times, 0.5))
    p99Ms.push(quantileOf(times, 0.99))
  }
  return { p50Ms, p99Ms, latencyMs: all }
}
