import { type Actions, type Ctx, decider, procedure, type StepCall } from '@pawl/core'
import { z } from 'zod'
import { noteEffect } from '../effects.ts'

const processAt = Date.now()

const judge = decider('judge', async ({ question }) => ({
  choice: question === 'Is it live?' ? 'failed' : 'approve',
  rationale: 'the page is empty',
  confidence: 1,
}))

/** The actions of the plan that its verification undoes. */
export const undoable = ['post', 'feed', 'mail'] as const

/**
 * Pays with the consent of a person, then runs a plan whose verification fails, so that it is undone. The careless one asks too,
 * and pays in its own code: the control.
 */
export const makeRelease = (ledger: string) => {
  const note = (run: string, step: string, key: string): string => {
    noteEffect(ledger, { run, step, key, pid: process.pid, processAt })
    return step
  }
  const payCarelessly = async (ctx: Ctx): Promise<void> => {
    const { approved } = await ctx.human.approve('Pay 45 EUR?', { key: 'pay' })
    if (approved) note(ctx.runId, 'pay', `of process ${process.pid}`)
  }
  return procedure(
    { name: 'release', input: z.object({ isCareless: z.boolean() }) },
    async (ctx, { isCareless }) => {
      const { runId: run } = ctx
      const action = (name: string) => ({
        run: (_: object, __: object, call: StepCall) => note(run, name, call.idempotencyKey),
        undo: (_: unknown, call: StepCall) => note(run, `undo ${name}`, call.idempotencyKey),
      })
      const use = {
        ...{ load: action('load'), feed: action('feed'), mail: action('mail') },
        post: { ...action('post'), check: { type: 'human', message: 'Publish it?' } as const },
      } as const satisfies Actions
      if (isCareless) await payCarelessly(ctx)
      else
        await ctx.gate('pay', {
          params: { amount: 45 },
          human: { message: 'Pay {amount} EUR?' },
          facts: () => 'not paid yet',
          run: (_, call) => note(run, 'pay', call.idempotencyKey),
        })
      const { status, undone } = await ctx.plan(
        [
          { id: 'load', use: 'load' },
          { id: 'post', use: 'post', needs: ['load'] },
          { id: 'feed', use: 'feed', needs: ['post'] },
          {
            ...{ id: 'mail', use: 'mail', needs: ['post'] },
            check: { type: 'agent', question: 'Mail it?', fallback: 'reject' } as const,
          },
          { id: 'live', verify: 'Is it live?', needs: undoable, fallback: 'reject' },
        ],
        { use, decider: judge, alert: 'group:ops' },
      )
      return { status, undone }
    },
  )
}
