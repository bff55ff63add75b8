import { setTimeout as wait } from 'node:timers/promises'
import { procedure } from '@pawl/core'
import { z } from 'zod'
import { noteEffect } from '../effects.ts'

const processAt = Date.now()

/** How a trip ends if nothing else happens to it. */
export const fates = ['complete', 'fail', 'cancel', 'roll back'] as const
export type Fate = (typeof fates)[number]
/** The fate of the n-th trip. */
export const fateOf = (n: number): Fate => fates[n % fates.length] as Fate

/** The bookings of a trip, two at a time. */
export const legs = [0, 1, 2, 3] as const

/** A map, a race, shields and undos: all that a cancel and a crash can fall into together. */
export const makeTrip = (ledger: string) => {
  const effect = async (run: string, step: string, call: { readonly idempotencyKey: string }) => {
    await wait(step.length % 3)
    noteEffect(ledger, { run, step, key: call.idempotencyKey, pid: process.pid, processAt })
    return step.length
  }
  return procedure(
    {
      name: 'trip',
      input: z.object({ n: z.number() }),
      signals: { paid: z.object({ cents: z.number() }) },
      grace: '1h',
    },
    async (ctx, { n }) => {
      const fate = fateOf(n)
      const undo = (name: string) => ({
        undo: (_: unknown, call: { readonly idempotencyKey: string }) =>
          effect(ctx.runId, `undo ${name}`, call),
      })
      await ctx.step('hold', (call) => effect(ctx.runId, 'hold', call), undo('hold'))
      await ctx.map(
        legs,
        (leg, ctx) =>
          ctx.step(`book ${leg}`, (call) => effect(ctx.runId, `book ${leg}`, call), undo(`book ${leg}`)),
        { concurrency: 2 },
      )
      ctx.onRollback('tell', (call) => effect(ctx.runId, 'undo tell', call))
      const first = await ctx.race({
        paid: ctx.receive('paid'),
        approved: async (ctx) => (await ctx.human.approve('Travel on credit?', { key: 'credit' })).by,
        late: async (ctx) => {
          try {
            await ctx.sleep(fate !== 'cancel' && n % 3 === 0 ? '30ms' : '1h')
          } finally {
            await ctx.shield((ctx) => ctx.step('release', (call) => effect(ctx.runId, 'release', call)))
          }
        },
      })
      // A race that a different branch has won leaves the signal to this receive.
      const { cents } = first.winner === 'paid' ? first.value : await ctx.receive('paid')
      try {
        await ctx.step('ship', (call) => effect(ctx.runId, 'ship', call))
        if (fate === 'fail') throw new Error('the hotel has burnt down')
        if (fate === 'roll back') await ctx.rollback('the customer stays at home')
      } finally {
        await ctx.shield((ctx) => ctx.step('tidy', (call) => effect(ctx.runId, 'tidy', call)))
      }
      return { n, cents, winner: first.winner }
    },
  )
}
