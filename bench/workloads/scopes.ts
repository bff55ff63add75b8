import { createEngine, type Engine, procedure } from '@pawl/core'
import { z } from 'zod'
import type { Line } from '../actor.ts'
import { check } from '../base/check.ts'
import { timeOf } from '../base/clock.ts'
import { openPlace } from '../places/open-place.ts'
import { errorsOnly, type Figures, type Job, roundsOf, Tally, warmUpFor } from './workload.ts'

const concurrency = 10
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)

/** A race of a step and a timer, so many times. */
const racing = procedure({ name: 'racing', input: z.number(), output: z.number() }, async (ctx, count) => {
  let won = 0
  for (const i of numbers(count)) {
    const { winner } = await ctx.race({ step: ctx.step('step', () => i), late: ctx.sleep('1h') })
    if (winner === 'step') won++
  }
  return won
})

/** The same without the race. */
const stepping = procedure(
  { name: 'stepping', input: z.number(), output: z.number() },
  async (ctx, count) => {
    let done = 0
    for (const i of numbers(count)) {
      await ctx.step('step', () => i)
      done++
    }
    return done
  },
)

const mapping = procedure({ name: 'mapping', input: z.number(), output: z.number() }, async (ctx, count) => {
  const results = await ctx.map(numbers(count), (i, ctx) => ctx.step('step', () => i), { concurrency })
  return results.length
})

/** The same by hand: as many loops as items of the map run at once. */
const pooling = procedure({ name: 'pooling', input: z.number(), output: z.number() }, async (ctx, count) => {
  let next = 0
  const results: number[] = []
  const work = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) results[i] = await ctx.step('step', () => i)
  }
  await Promise.all(numbers(concurrency).map(work))
  return results.length
})

type Counting = typeof racing

/** Races of 2 branches, one after the other, beside steps without a race. */
export function raceOfTwo(job: Job, line: Line): Promise<Figures> {
  return compare(job, line, racing, stepping)
}

/** A map beside the same pool written by hand. */
export function mapOfMany(job: Job, line: Line): Promise<Figures> {
  return compare(job, line, mapping, pooling)
}

/** Each round runs both, and in the next round in the other order. */
async function compare(job: Job, line: Line, own: Counting, plain: Counting): Promise<Figures> {
  const count = job.size ?? 1_000
  const place = openPlace(job.address)
  const engine = await createEngine({ store: place.store(), logger: errorsOnly, procedures: [own, plain] })
  const tally = new Tally()
  const time = (procedure: Counting) => timeOf(() => runOne(engine, procedure, count))
  await warmUpFor(job, async () => {
    await time(own)
    await time(plain)
  })
  for await (const round of roundsOf(job, line)) {
    const first = await time(round % 2 === 0 ? own : plain)
    const second = await time(round % 2 === 0 ? plain : own)
    const [ownMs, plainMs] = round % 2 === 0 ? [first, second] : [second, first]
    tally.add({
      perSecond: (count / ownMs) * 1_000,
      plainPerSecond: (count / plainMs) * 1_000,
      ratio: ownMs / plainMs,
    })
  }
  await engine.stop()
  return tally.figures
}

async function runOne(engine: Engine, procedure: Counting, count: number): Promise<void> {
  check('the number of steps', await (await engine.run(procedure, count)).result(), count)
}
