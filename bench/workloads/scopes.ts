import { procedure } from '@pawl/core'
import { z } from 'zod'
import type { Line } from '../actor.ts'
import { besidePlain, ratesOf } from './beside-plain.ts'
import type { Figures, Job } from './workload.ts'

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

/** Races of 2 branches, one after the other, beside steps without a race. */
export function raceOfTwo(job: Job, line: Line): Promise<Figures> {
  return besidePlain(job, line, { own: racing, plain: stepping }, ratesOf)
}

/** A map beside the same pool written by hand. */
export function mapOfMany(job: Job, line: Line): Promise<Figures> {
  return besidePlain(job, line, { own: mapping, plain: pooling }, ratesOf)
}
