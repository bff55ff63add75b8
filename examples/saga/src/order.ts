import { FinalError, procedure } from '@pawl/core'
import { z } from 'zod'
import type { Ledger } from './ledger.ts'

export interface Shop {
  readonly ledger: Ledger
  /** Called when an undo has had its effect, and is not recorded yet. */
  readonly afterUndo: (what: string) => Promise<void>
}

/**
 * Holds the money, reserves the goods, and ships them once the carrier has come. If one of these fails, or the order is cancelled,
 * the ones before it are undone.
 */
export function createOrder({ ledger, afterUndo }: Shop) {
  return procedure(
    {
      name: 'order',
      input: z.object({ id: z.string(), cents: z.number() }),
      output: z.string(),
      signals: { collected: z.void() },
    },
    async (ctx, { id, cents }) => {
      const undo = (what: string) => async (key: string) => {
        ledger.do(what, key)
        await afterUndo(what)
      }
      await ctx.step('hold', ({ idempotencyKey }) => ledger.do(`hold ${cents} cents`, idempotencyKey), {
        undo: (_result, { idempotencyKey }) => undo('release the money')(idempotencyKey),
      })
      await ctx.step('reserve', ({ idempotencyKey }) => ledger.do('reserve the goods', idempotencyKey), {
        undo: (_result, { idempotencyKey }) => undo('return the goods')(idempotencyKey),
      })
      ctx.onRollback('tell the customer', ({ idempotencyKey }) =>
        undo('write to the customer')(idempotencyKey),
      )
      const collected = await ctx.receive('collected', { timeout: '3d' })
      if (collected === null) throw new FinalError('the carrier did not come within three days')
      await ctx.step('ship', ({ idempotencyKey }) => ledger.do('ship', idempotencyKey))
      return `${id} is on its way`
    },
  )
}
