import { decider, procedure } from '@pawl/core'
import { z } from 'zod'
import type { Shop } from './shop.ts'

/** Recalculates. In a real program this is a model, or code of its own. */
export const checker = decider('checker', async ({ material }) => {
  const { products, impact, perPercent, percent } = material as {
    readonly [name in 'products' | 'impact' | 'perPercent' | 'percent']: number
  }
  const isRight = products > 0 && impact === percent * perPercent
  return { choice: isRight ? 'ok' : 'wrong', rationale: `${products} products, ${impact} USD`, confidence: 1 }
})

/** Changes the prices of a catalogue: an agent checks the sums, and a person agrees if much money is at stake. */
export function createPriceUpdate(shop: Shop) {
  return procedure(
    { name: 'price-update', input: z.object({ percent: z.number().min(-50).max(50) }) },
    async (ctx, { percent }) => {
      const proposal = await ctx.step('calculate', () => shop.propose(percent))
      const sums = await ctx.agent.decide('Do the calculations hold?', ['ok', 'wrong'], {
        ...{ agent: checker, material: { ...proposal, percent }, minConfidence: 0.9, fallback: 'wrong' },
      })
      if (sums.choice === 'wrong') return { status: 'miscalculated', by: sums.by }

      const update = await ctx.gate('update prices', {
        classes: ['cost', 'external'],
        params: { percent, products: proposal.products },
        policy: () => (Math.abs(proposal.impact) < 1_000 ? 'allow' : 'human'),
        human: {
          message: 'Change {products} prices by {percent} %?',
          editable: ['percent'],
          risk: {
            level: 'high',
            reasons: ['cost'],
            impact: { amount: proposal.impact, currency: 'USD', affects: `${proposal.products} products` },
          },
          ...{ to: 'group:finance', timeout: '4h', onTimeout: { escalateTo: 'role:cfo' } },
        },
        facts: () => shop.catalogueVersion,
        run: (params, { idempotencyKey }, version) => shop.update(params.percent, version, idempotencyKey),
      })
      if (!update.done) return { status: update.reason, by: update.by }
      await ctx.step('clear cache', () => shop.clearCache())
      return { status: 'updated', by: update.by }
    },
  )
}
