import { createEngine, type Engine, procedure } from '@pawl/core'
import { z } from 'zod'
import type { Line } from '../actor.ts'
import { check } from '../base/check.ts'
import { type Longest, Pieces } from '../base/pieces.ts'
import { openPlace } from '../places/open-place.ts'
import { errorsOnly, type Figures, type Job, type Role, roundsOf, Tally } from './workload.ts'

const few = 1_000
const many = 10_000

const pieces = new Pieces()
const countTo = (length: number): readonly number[] => Array.from({ length }, (_, i) => i)

const oneStep = procedure({ name: 'one step', input: z.number() }, (ctx, i) => ctx.step('step', () => i))

const waiting = procedure({ name: 'waiting', signals: { go: z.number() } }, (ctx) => ctx.receive('go'))

const asking = procedure({ name: 'asking', input: z.number() }, async (ctx, asks) => {
  const options = { timeout: '1h', onTimeout: 'reject' } as const
  const ask = (i: number) => ctx.human.approve(`Pay item ${i}?`, options)
  return (await callAll(countTo(asks), ask)).filter(({ approved }) => approved).length
})

const stepping = procedure(
  { name: 'stepping', input: z.number() },
  async (ctx, steps) => (await callAll(countTo(steps), (i) => ctx.step('step', () => i))).length,
)

/** Calls the engine in a loop of the author's. The loop is not counted; the work that follows from the calls is. */
function callAll<Item, Result>(
  items: readonly Item[],
  call: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  return pieces.exclude(() => Promise.all(items.map(call)))
}

type Task = (engine: Engine, n: number) => Promise<void>

/** Starts runs of one step and waits for their results. */
export const stallOfRuns: Role = stallOf(async (engine, n) => {
  const runs = await callAll(countTo(n), (i) => engine.run(oneStep, i))
  const results = await callAll(runs, (run) => run.result())
  check('the results', results.length, n)
})

/** Sends a signal to each of many waiting runs, most of them not in memory, and waits for their results. */
export const stallOfSignals: Role = stallOf(async (engine, n) => {
  const runs = await callAll(countTo(n), () => engine.run(waiting))
  await callAll(runs, (run) => run.signal('go', 1))
  const results = await callAll(runs, (run) => run.result())
  check('the results', results.length, n)
})

/** Has one run ask many questions, and answers them all. */
export const stallOfAsks: Role = stallOf(async (engine, n) => {
  const run = await engine.run(asking, n)
  while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setTimeout(resolve, 10))
  await callAll(countTo(n), (i) =>
    engine.inbox.answer(`${run.id}/${i}`, { approved: true }, { as: 'user:ana' }),
  )
  check('the answers', await run.result(), n)
})

/** Has one run begin many steps. */
export const stallOfSteps: Role = stallOf(async (engine, n) => {
  check('the steps', await (await engine.run(stepping, n)).result(), n)
})

/** The kernel may deliver events for this long in one round of the event loop. A shorter piece counts as this long. */
const shortestMs = 4

/**
 * Measures the longest piece of many at once, and that of as many in ten bursts, by turns. The ratio compares the
 * shortest measurement of each, since a busy machine only adds to them.
 */
function stallOf(task: Task): Role {
  return async (job: Job, line: Line): Promise<Figures> => {
    const store = openPlace(job.address).store()
    const engine = await createEngine({
      store,
      procedures: [oneStep, waiting, asking, stepping],
      logger: errorsOnly,
    })
    const doFew = async (): Promise<void> => {
      for (let done = 0; done < many; done += few) await task(engine, few)
    }
    const doMany = (): Promise<void> => task(engine, many)
    await doFew()
    await doMany()
    const tally = new Tally()
    for await (const _ of roundsOf(job, line))
      addPieces(tally, await pieces.longestOf(doFew), await pieces.longestOf(doMany))
    await engine.stop()
    const { fewMs = [], manyMs = [] } = tally.figures
    const shortest = (all: readonly number[]): number => Math.max(shortestMs, Math.min(...all))
    return { ratio: [shortest(manyMs) / shortest(fewMs)], ...tally.figures }
  }
}

function addPieces(tally: Tally, few: Longest, many: Longest): void {
  tally.add({
    fewMs: few.ms,
    manyMs: many.ms,
    fewWithGarbageMs: few.withGarbageMs,
    manyWithGarbageMs: many.withGarbageMs,
  })
}
