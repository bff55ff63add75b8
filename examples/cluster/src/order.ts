import { setTimeout as pause } from 'node:timers/promises'
import { procedure } from '@pawl/core'
import { z } from 'zod'
import type { Bank } from './bank.ts'

/** From the order to the parcel: any worker can start it, and any other can resume it. */
export const makeOrder = (bank: Bank) =>
  procedure(
    {
      name: 'order',
      input: z.object({ article: z.string(), cents: z.number().int().positive() }),
      output: z.object({ parcel: z.string() }),
    },
    async (ctx, { article, cents }) => {
      await ctx.step('reserve', () => work(`${article} lies on the packing table`))
      await ctx.step('charge', ({ idempotencyKey }) => bank.charge(ctx.runId, cents, idempotencyKey))
      // The parcel is collected once a second.
      await ctx.sleep('1s')
      const parcel = await ctx.step('ship', () => work(`parcel of ${article}`))
      return { parcel }
    },
  )

async function work(result: string): Promise<string> {
  await pause(10 + Math.random() * 20)
  return result
}
