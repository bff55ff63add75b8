import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { procedure } from '@pawl/core'
import { z } from 'zod'
import { noteEffect } from './effects.ts'

const processAt = Date.now()

/** The file in which slow steps note that they have begun. */
export const begunOf = (ledger: string): string => `${ledger}.begun`

/** Lets go on the steps that wait for this gate. */
export const openGate = (gate: string): void => appendFileSync(gate, '')

export interface Pace {
  /** How long a step takes before it has its effect. */
  readonly stepMs?: number
  /** A file without which no step has its effect. */
  readonly gate?: string | undefined
}

/**
 * Steps, branches, a question, a signal, a sleep and a race: everything a crash can fall into. Steps that take
 * time note that they have begun.
 */
export const makeOrder = (ledger: string, { stepMs = 0, gate }: Pace = {}) => {
  const effect = async (
    run: string,
    step: string,
    { idempotencyKey }: { readonly idempotencyKey: string },
  ) => {
    const own = { run, step, key: idempotencyKey, pid: process.pid, processAt }
    if (stepMs > 0 || gate !== undefined) noteEffect(begunOf(ledger), own)
    if (stepMs > 0) await wait(stepMs)
    while (gate !== undefined && !existsSync(gate)) await wait(5)
    noteEffect(ledger, own)
    return step.length
  }
  return procedure(
    {
      name: 'order',
      input: z.object({ n: z.number() }),
      output: z.object({
        n: z.number(),
        by: z.string(),
        cents: z.number(),
        winner: z.string(),
        sum: z.number(),
      }),
      signals: { paid: z.object({ cents: z.number() }) },
    },
    async (ctx, { n }) => {
      const a = await ctx.step('a', (call) => effect(ctx.runId, 'a', call))
      const [b, c] = await Promise.all([
        ctx.step('bb', (call) => effect(ctx.runId, 'bb', call)),
        ctx.step('ccc', (call) => effect(ctx.runId, 'ccc', call)),
      ])
      const approval = await ctx.human.approve('Go on with {n}?', { params: { n }, key: 'go on' })
      if (!approval.approved) throw new Error('nobody says no here')
      const { cents } = await ctx.receive('paid')
      await ctx.sleep('2ms')
      const winner = await Promise.race([
        ctx.sleep('3ms').then(() => 'timer'),
        ctx
          .step('dddd', async (call) => {
            await wait(n % 7)
            return effect(ctx.runId, 'dddd', call)
          })
          .then(() => 'step'),
      ])
      const e = await ctx.step(`eeeee ${winner}`, (call) => effect(ctx.runId, `eeeee ${winner}`, call))
      return { n, by: approval.by, cents, winner, sum: a + b + c + e }
    },
  )
}
