import { createEngine, type Engine, type Procedure, procedure, type ResumeResolution } from '@pawl/core'
import { memory } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const approving = procedure({ name: 'approving' }, (ctx) =>
  ctx.human.approve('Refund {amount}?', { params: { amount: 45 }, editable: ['amount'] }),
)
const choosing = procedure({ name: 'choosing' }, (ctx) => ctx.human.select('Where to?', ['north', 'south']))
const entering = procedure({ name: 'entering' }, (ctx) => ctx.human.input('Name?', z.string()))
const reviewing = procedure({ name: 'reviewing' }, (ctx) =>
  ctx.human.review('Publish?', { text: 'a' }, { editable: true }),
)

async function checkpointOf(engine: Engine, run: string): Promise<string> {
  return (await engine.inbox.next({ run })).id
}

const as = { as: 'user:ana' } as const

type Case = readonly [
  what: string,
  asked: Procedure<undefined, unknown>,
  resolution: ResumeResolution,
  outcome: unknown,
]

describe('client.resume', () => {
  test.each<Case>([
    ['a yes by name', approving, { decision: 'approve' }, { approved: true, params: { amount: 45 } }],
    [
      'a yes with an edit',
      approving,
      { decision: 'approve', params: { amount: 40 } },
      { approved: true, params: { amount: 40 } },
    ],
    ['a no by name', approving, { decision: 'reject', comment: 'no' }, { approved: false, comment: 'no' }],
    ['a choice by name', choosing, { decision: 'south' }, { choice: 'south' }],
    [
      'a review with an edit',
      reviewing,
      { decision: 'approve', artifact: { text: 'b' } },
      { choice: 'approve', artifact: { text: 'b' } },
    ],
    ['an answer as inbox.answer takes it', entering, { value: 'Ada' }, { value: 'Ada' }],
  ])('resumes a run with %s', async (_what, asked, resolution, outcome) => {
    const engine = await createEngine({ store: memory(), procedures: [asked] })
    const run = await engine.run(asked)
    const checkpoint = await checkpointOf(engine, run.id)
    const resumed = await engine.resume({ checkpoint, resolution }, as)
    expect(resumed.id).toBe(run.id)
    expect(await resumed.result()).toEqual(await run.result())
    const { answer } = (await engine.inbox.get(checkpoint)) ?? {}
    expect(answer).toMatchObject({ ...(outcome as object), by: 'user:ana' })
    await engine.stop()
  })

  test.each<Case>([
    ['a decision that an approval does not have', approving, { decision: 'maybe' }, 'option-invalid'],
    ['a choice that is not offered', choosing, { decision: 'west' }, 'answer-invalid'],
    ['a decision on an input', entering, { decision: 'Ada' }, 'option-invalid'],
    [
      'a part that does not belong to the kind',
      choosing,
      { decision: 'north', params: {} },
      'option-invalid',
    ],
    ['params beside a no', approving, { decision: 'reject', params: { amount: 1 } }, 'option-invalid'],
  ])('refuses %s, and leaves the ask open', async (_what, asked, resolution, code) => {
    const engine = await createEngine({ store: memory(), procedures: [asked] })
    const run = await engine.run(asked)
    const checkpoint = await checkpointOf(engine, run.id)
    await expect(engine.resume({ checkpoint, resolution }, as)).rejects.toMatchObject({ code })
    expect(await engine.inbox.get(checkpoint)).toMatchObject({ status: 'open' })
    await engine.stop()
  })

  test('keeps the channel of an answer with it, also of one that came before its ask', async () => {
    const keyed = procedure({ name: 'keyed', signals: { go: z.unknown() } }, async (ctx) => {
      await ctx.receive('go')
      return ctx.human.approve('Go on?', { key: 'go on' })
    })
    const engine = await createEngine({ store: memory(), procedures: [choosing, keyed] })
    const through = { ...as, via: 'mail' }
    const chosen = await engine.run(choosing)
    const checkpoint = await checkpointOf(engine, chosen.id)
    await engine.resume({ checkpoint, resolution: { decision: 'south' } }, through)
    const early = await engine.run(keyed)
    await engine.inbox.answer({ run: early.id, key: 'go on' }, { approved: true }, through)
    await early.signal('go', 1)
    await Promise.all([chosen.result(), early.result()])
    for (const { id } of [chosen, early]) {
      const { items } = await engine.inbox.list({ run: id, status: 'answered' })
      expect(items).toMatchObject([{ answer: { by: 'user:ana', via: 'mail' } }])
      expect((await engine.log(id)).execution_log.at(-1)?.result).toMatchObject({ via: 'mail' })
    }
    await expect(
      engine.inbox.answer(checkpoint, { choice: 'south' }, { ...as, via: 'By Mail' }),
    ).rejects.toThrow('The option via of inbox.answer')
    await engine.stop()
  })

  test('rejects with ask-not-found for a checkpoint that does not exist', async () => {
    const engine = await createEngine({ store: memory(), procedures: [approving] })
    const refused = engine.resume({ checkpoint: 'none/0', resolution: { decision: 'approve' } }, as)
    await expect(refused).rejects.toMatchObject({ code: 'ask-not-found' })
    await engine.stop()
  })
})
