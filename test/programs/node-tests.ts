import test from 'node:test'
import { procedure } from '@pawl/core'
import { checkDeterminism } from '@pawl/testing'
import fc from 'fast-check'
import { z } from 'zod'

// Tests as a user of node:test writes them: the first passes, the second fails.

const input = z.object({ amount: z.int() })
const sound = procedure({ name: 'sound', input }, async (ctx, { amount }) => {
  const { approved } = await ctx.human.approve('Refund {amount}?', { params: { amount } })
  if (approved) await ctx.step('refund', () => amount)
  await ctx.sleep('1d')
})

let calls = 0
const counting = procedure({ name: 'counting', input }, async (ctx, { amount }) => {
  await ctx.step(`refund ${calls++}`, () => amount)
  await ctx.sleep('1d')
})

const humans = [{ ask: 'Refund', answer: { approved: true } }] as const
const inputs = fc.sample(fc.record({ amount: fc.integer() }), 10)

void test('sound replays', () => checkDeterminism(sound, { inputs, humans, runs: 1 }))
void test('counting replays', () => checkDeterminism(counting, { inputs, runs: 1 }))
