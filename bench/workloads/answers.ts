import type { Engine } from '@pawl/core'
import { check } from '../base/check.ts'
import { costOf, nowMs, sleep } from '../base/clock.ts'
import { quantileOf } from '../base/statistics.ts'
import { openPlace } from '../places/open-place.ts'
import { asking } from '../procedures.ts'
import { untilNoneRuns } from './start-up.ts'
import { type Figures, type Job, startEngine } from './workload.ts'

const perSecond = 1_000
const tickMs = 5

/**
 * 10,000 runs ask a person; the answers come 1,000 a second, whether or not the engine keeps up. Timed from
 * when each was due to come until its run has ended.
 */
export async function answerMany({ address, size: runs = 10_000 }: Job): Promise<Figures> {
  const engine = await startEngine(openPlace(address))
  for (let from = 0; from < runs; from += 1_000)
    await Promise.all(Array.from({ length: 1_000 }, () => engine.run(asking)))
  await untilNoneRuns(engine)
  const asks = await listAsks(engine)
  check('open asks', asks.length, runs)

  const latencyMs: number[] = []
  let [ms, lateMs] = [0, 0]
  const { cpuMs } = await costOf(async () => {
    const all: Promise<void>[] = []
    const from = nowMs()
    while (all.length < runs) {
      const due = Math.min(runs, Math.floor(((nowMs() - from) * perSecond) / 1_000))
      while (all.length < due) {
        const [i, dueAt] = [all.length, from + (all.length * 1_000) / perSecond]
        lateMs = Math.max(lateMs, nowMs() - dueAt)
        all.push(answerOne(engine, asks[i] as Asked, i).then(() => void latencyMs.push(nowMs() - dueAt)))
      }
      await sleep(tickMs)
    }
    await Promise.all(all)
    ms = nowMs() - from
  })
  await engine.stop()
  return {
    perSecond: [(runs / ms) * 1_000],
    p50Ms: [quantileOf(latencyMs, 0.5)],
    p99Ms: [quantileOf(latencyMs, 0.99)],
    cpuUsPerAnswer: [(cpuMs / runs) * 1_000],
    sentLateMs: [lateMs],
    latencyMs,
  }
}

interface Asked {
  readonly id: string
  readonly run: string
}

async function answerOne(engine: Engine, { id, run }: Asked, value: number): Promise<void> {
  await engine.inbox.answer(id, { value }, { as: 'user:ana' })
  check('result', await engine.get(asking, run).result(), value)
}

async function listAsks(engine: Engine): Promise<readonly Asked[]> {
  const asks: Asked[] = []
  let cursor: string | undefined
  do {
    const page = await engine.inbox.list({ limit: 500, cursor })
    asks.push(...page.items.map(({ id, run }) => ({ id, run })))
    cursor = page.cursor
  } while (cursor !== undefined)
  return asks
}
