import { randomBytes } from 'node:crypto'
import { procedure } from '@pawl/core'
import { checkDeterminism } from '@pawl/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const refund = procedure(
  { name: 'refund', input: z.object({ amount: z.int() }) },
  async (ctx, { amount }) => {
    await ctx.sleep('1d')
    const approval = await ctx.human.approve('Refund {amount}?', { params: { amount } })
    if (!approval.approved) throw new Error('declined')
    return ctx.step(`refund ${ctx.uuid()}`, () => amount)
  },
)
const humans = [{ ask: 'Refund', answer: { approved: true } }] as const

describe('checkDeterminism', () => {
  test('accepts a procedure that replays, whether it succeeds or fails', async () => {
    await checkDeterminism(refund, { input: { amount: 45 }, humans, runs: 5 })
    await checkDeterminism(refund, {
      input: { amount: 45 },
      humans: [{ ask: /./, answer: { approved: false } }],
      runs: 5,
    })
  })

  test('runs each input of fast-check', async () => {
    const seen = new Set<number>()
    const inputs = fc.sample(fc.record({ amount: fc.integer() }), { numRuns: 20, seed: 1 })
    const steps = { 'refund *': () => seen.add(seen.size) && 1 }
    await checkDeterminism(refund, { inputs, humans, runs: 1, steps, strict: true })
    expect(seen.size).toBe(20)
  })

  test('finds a name that another replay does not give', async () => {
    let n = 0
    const counting = procedure({ name: 'counting' }, async (ctx) => {
      const name = `step ${n++}`
      await ctx.step(name, () => {})
      await ctx.step('then', () => {})
    })
    await expect(checkDeterminism(counting, { runs: 1 })).rejects.toMatchObject({ code: 'nondeterminism' })
  })

  test('finds an output that another replay does not return', async () => {
    const random = procedure({ name: 'random' }, async (ctx) => {
      await ctx.step('begin', () => {})
      return randomBytes(8).toString('hex')
    })
    await expect(checkDeterminism(random, { runs: 1 })).rejects.toMatchObject({
      code: 'nondeterminism',
      message: expect.stringContaining('its completion with'),
    })
  })

  test('finds a wait for what is not recorded, and a call that is not allowed', async () => {
    const foreign = procedure(
      { name: 'foreign' },
      () => new Promise<void>((resolve) => setImmediate(resolve)),
    )
    await expect(checkDeterminism(foreign, { runs: 1 })).rejects.toMatchObject({ code: 'foreign-await' })
    const calling = procedure({ name: 'calling' }, async () => void (await fetch('http://127.0.0.1:1/')))
    await expect(checkDeterminism(calling, { runs: 1 })).rejects.toThrow(/A procedure called fetch/)
  })

  test('refuses both input and inputs, and inputs that the procedure does not accept', async () => {
    const both = { input: { amount: 1 }, inputs: [] } as unknown as { readonly input: { amount: number } }
    await expect(checkDeterminism(refund, both)).rejects.toThrow(
      /Give `input` for one, or `inputs` for several/,
    )
    const wrong = { input: { amount: 'x' } } as unknown as { readonly input: { amount: number } }
    await expect(checkDeterminism(refund, wrong)).rejects.toMatchObject({ code: 'input-invalid' })
  })
})
