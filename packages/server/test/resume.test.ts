import { type Procedure, procedure } from '@pawl/core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { startServer } from './support/server.ts'

type Asking = Procedure<undefined, void>

const approving: Asking = procedure({ name: 'approving' }, async (ctx) => {
  await ctx.human.approve('Refund {amount}?', { params: { amount: 45 }, editable: ['amount'] })
})
const choosing: Asking = procedure({ name: 'choosing' }, async (ctx) => {
  await ctx.human.select('Where to?', ['north', 'south'])
})
const entering: Asking = procedure({ name: 'entering' }, async (ctx) => {
  await ctx.human.input('Name?', z.string())
})
const reviewing: Asking = procedure({ name: 'reviewing' }, async (ctx) => {
  await ctx.human.review('Publish?', { text: 'a' }, { editable: true })
})
const escalating: Asking = procedure({ name: 'escalating' }, async (ctx) => {
  await ctx.human.escalate('Totals do not match', { choices: ['retry', 'abort'] })
})

test.each([
  ['a yes by name', approving, { decision: 'approve' }, { approved: true, params: { amount: 45 } }],
  [
    'a yes with an edit',
    approving,
    { decision: 'approve', params: { amount: 40 } },
    { approved: true, params: { amount: 40 } },
  ],
  ['a no by name', approving, { decision: 'reject', comment: 'no' }, { approved: false, comment: 'no' }],
  [
    'an approval as the ask takes it',
    approving,
    { approved: true, params: { amount: 40 } },
    { approved: true },
  ],
  ['a choice by name', choosing, { decision: 'south' }, { choice: 'south' }],
  ['a choice as the ask takes it', choosing, { choice: 'south', comment: 'warm' }, { choice: 'south' }],
  ['a value', entering, { value: 'Ada' }, { value: 'Ada' }],
  [
    'a review with an edit',
    reviewing,
    { decision: 'approve', artifact: { text: 'b' } },
    { choice: 'approve', artifact: { text: 'b' } },
  ],
  ['the choice of an escalation', escalating, { decision: 'abort', comment: 'no' }, { choice: 'abort' }],
] as const)(
  'resumes a run over HTTP with %s, by id and by address',
  async (_what, asked, resolution, answer) => {
    await using server = await startServer({ procedures: [asked] })
    for (const [run, checkpointOf] of [
      ['a', ({ id }: { readonly id: string }) => id],
      ['b', () => 'b/0'],
    ] as const) {
      const handle = await server.engine.run(asked, undefined, { id: run })
      const checkpoint = checkpointOf(await server.engine.inbox.next({ run }))
      const reply = await server.call('root', 'POST', '/v1/resume', { checkpoint, resolution })
      expect(reply).toMatchObject({
        status: 200,
        body: { repeated: false, ask: { status: 'answered', answer } },
      })
      await handle.result()
    }
  },
)

test.each([
  ['a decision that an approval does not have', approving, { decision: 'maybe' }, 400],
  ['a decision on an input', entering, { decision: 'Ada' }, 400],
  ['a value that the schema refuses', entering, { value: 7 }, 422],
  ['params beside a no', approving, { decision: 'reject', params: { amount: 1 } }, 400],
] as const)('refuses over HTTP %s, and leaves the ask open', async (_what, asked, resolution, status) => {
  await using server = await startServer({ procedures: [asked] })
  await server.engine.run(asked, undefined, { id: 'a' })
  const { id } = await server.engine.inbox.next({ run: 'a' })
  const body = { checkpoint: id, resolution }
  expect(await server.call('root', 'POST', '/v1/resume', body)).toMatchObject({ status })
  expect(await server.engine.inbox.get(id)).toMatchObject({ status: 'open' })
})
