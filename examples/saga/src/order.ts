import { FinalError, type Procedure, procedure } from '@pawl/core'
import { z } from 'zod'
import type { Ledger } from './ledger.ts'

export interface Shop {
  readonly ledger: Ledger
  /** Called when an undo has had its effect, and is not recorded yet. */
  readonly afterUndo: (what: string) => Promise<void>
}

/** Holds the money, reserves the goods and ships them. If one of these fails, the ones before it are undone. */
export function createOrder({ ledger, afterUndo }: Shop): Procedure<{ id: string; cents: number }, string> {
  return procedure(
    { name: 'order', input: z.object({ id: z.string(), cents: z.number() }), output: z.string() },
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
      await ctx.step(
        'ship',
        () => {
          throw new FinalError('the carrier does not deliver there')
        },
        { retry: false },
      )
      return `${id} is on its way`
    },
  )
}
