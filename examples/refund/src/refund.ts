import { type Ctx, procedure } from '@pawl/core'
import { z } from 'zod'
import { noteRun } from './diary.ts'
import { type Order, readOrderBook } from './orders.ts'
import { payments } from './payments.ts'

/** In EUR. More than that leaves the house only with a person's consent. */
export const approvalAbove = 100

/** Pays back the orders of a book: the small ones by itself, each large one after a person said yes. */
export const refundOrders = procedure(
  {
    name: 'refund-orders',
    input: z.object({ book: z.string() }),
    output: z.object({ refunded: z.array(z.string()), declined: z.array(z.string()), badLines: z.number() }),
  },
  async (ctx, { book }) => {
    const { orders, bad } = await ctx.step('read the order book', async () => {
      await noteRun('read the order book')
      return readOrderBook(book)
    })

    // A book that was sent by mistake can be stopped before money moves.
    await ctx.sleep('2s')

    const small = orders.filter(({ amount }) => amount <= approvalAbove)
    await Promise.all(small.map((order) => refund(ctx, order, order.amount)))

    const refunded = small.map(({ id }) => id)
    const declined: string[] = []
    for (const order of orders.filter(({ amount }) => amount > approvalAbove)) {
      const approval = await ctx.human.approve('Refund {amount} EUR for order {orderId}?', {
        params: { orderId: order.id, amount: order.amount },
        editable: ['amount'],
        schema: z.object({ orderId: z.string(), amount: z.number().positive().max(order.amount) }),
        history: 'none',
        details: [{ title: 'Reason', body: order.reason }],
        risk: 'high',
        timeout: '1h',
        onTimeout: 'escalate',
      })
      if (!approval.approved) {
        declined.push(order.id)
        continue
      }
      await refund(ctx, order, approval.params.amount)
      refunded.push(order.id)
    }
    return { refunded, declined, badLines: bad.length }
  },
)

function refund(ctx: Ctx, order: Order, amount: number): Promise<void> {
  const name = `refund ${order.id}`
  return ctx.step(
    name,
    async ({ idempotencyKey }) => {
      await noteRun(name)
      await payments.refund(order, amount, idempotencyKey)
    },
    { retry: { attempts: 5 } },
  )
}
