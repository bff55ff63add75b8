import { procedure } from '@pawl/core'
import { z } from 'zod'

/** Steps one after the other, each returning a number. Returns their sum. */
export const sequence = procedure({ name: 'sequence', input: z.number() }, async (ctx, steps) => {
  let sum = 0
  for (let i = 0; i < steps; i++) sum += await ctx.step('step', () => i)
  return sum
})

/** All steps at once. Returns their sum. */
export const fan = procedure({ name: 'fan', input: z.number() }, async (ctx, steps) => {
  const all = await Promise.all(Array.from({ length: steps }, (_, i) => ctx.step('step', () => i)))
  return all.reduce((sum, i) => sum + i, 0)
})

/** Waits for one signal and returns its number. */
export const waiting = procedure({ name: 'waiting', signals: { go: z.number() } }, (ctx) => ctx.receive('go'))

/** Asks a person for a number and returns it. */
export const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.input('How many?', z.number()))

/** A long log, then a wait. */
export const sequenceThenWait = procedure(
  { name: 'sequence then wait', input: z.number(), signals: { go: z.number() } },
  async (ctx, steps) => {
    let sum = 0
    for (let i = 0; i < steps; i++) sum += await ctx.step('step', () => i)
    return sum + (await ctx.receive('go'))
  },
)

/** What sequence and fan return. */
export function sumOf(steps: number): number {
  return (steps * (steps - 1)) / 2
}
