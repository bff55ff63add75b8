import { randomBytes } from 'node:crypto'
import { procedure } from '@pawl/core'
import { z } from 'zod'

/** Steps one after the other, each returning a number. Returns their sum. */
export const sequence = procedure({ name: 'sequence', input: z.number() }, async (ctx, steps) => {
  let sum = 0
  for (let i = 0; i < steps; i++) sum += await ctx.step('step', () => i)
  return sum
})

/** What is called as a step of `watchedSequence` begins. */
export const watched: { onBegin: (step: number) => Promise<void> | void } = { onBegin: () => {} }

/** As `sequence`, with somebody who is told of each step. */
export const watchedSequence = procedure(
  { name: 'watched sequence', input: z.number() },
  async (ctx, steps) => {
    let sum = 0
    for (let i = 0; i < steps; i++)
      sum += await ctx.step('step', async () => {
        await watched.onBegin(i)
        return i
      })
    return sum
  },
)

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

/** Which steps of `rewound` were really done in this process, and who waits for it to arrive where it can go on. */
export const executed = { steps: 0 }
export const arrivals = {
  waiting: new Map<string, (sum: number) => void>(),
  next: (id: string): Promise<number> => new Promise((resolve) => arrivals.waiting.set(id, resolve)),
}

/** A long log, and then a step for every signal: it tells how far a replay has come. */
export const rewound = procedure(
  { name: 'rewound', input: z.number(), signals: { go: z.void() } },
  async (ctx, steps) => {
    let sum = 0
    for (let i = 0; i < steps; i++)
      sum += await ctx.step('step', () => {
        executed.steps++
        return i
      })
    for (;;) {
      await ctx.receive('go')
      await ctx.step('arrive', () => arrivals.waiting.get(ctx.runId)?.(sum))
    }
  },
)

const texts = new Map<number, string>()

/** Text that does not compress, the same throughout this process. */
export function textOf(length: number): string {
  const text = texts.get(length) ?? randomBytes(length).toString('base64').slice(0, length)
  texts.set(length, text)
  return text
}

/** Steps that return text of some length. Returns the sum of the lengths. */
export const carrying = procedure(
  { name: 'carrying', input: z.object({ steps: z.number(), bytes: z.number() }) },
  async (ctx, { steps, bytes }) => {
    let sum = 0
    for (let i = 0; i < steps; i++) sum += (await ctx.step('carry', () => textOf(bytes))).length
    return sum
  },
)

/** What sequence and fan return. */
export function sumOf(steps: number): number {
  return steps === 0 ? 0 : (steps * (steps - 1)) / 2
}
