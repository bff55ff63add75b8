import { type Procedure, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { keepLines, refusalOf, silent } from './support.ts'

const as = { as: 'user:ana' } as const

const refund = procedure({ name: 'refund' }, (ctx) =>
  ctx.human.approve('Refund?', { require: 'comment-on-reject', key: 'ok' }),
)
const pick = procedure({ name: 'pick' }, (ctx) =>
  ctx.human.select('Which?', ['north', 'south'], { require: 'comment' }),
)
const check = procedure({ name: 'check' }, (ctx) =>
  ctx.human.review('Publish?', 'text', { require: 'comment-on-reject' }),
)
const missing = {
  code: 'answer-invalid',
  details: { issues: [{ path: 'comment', message: 'is required: say why' }] },
}

test.each([
  ['approve', refund as Procedure<undefined, unknown>, { approved: false }, { approved: true }],
  ['review', check as Procedure<undefined, unknown>, { choice: 'reject' }, { choice: 'approve' }],
] as const)(
  'a rejection without a required comment is refused, and an approval is accepted: %s',
  async (_, code, no, yes) => {
    await using engine = await testEngine({ procedures: [code] })
    const run = await engine.run(code)
    const ask = await engine.inbox.next({ run: run.id })
    expect(ask.require).toBe('comment-on-reject')
    expect(ask.decisions.map(({ value, comment }) => [value, comment])).toEqual([
      ['approve', undefined],
      ['reject', 'required'],
    ])
    for (const comment of [
      undefined,
      '',
      ' \n',
      '\u200b',
      '\u00ad \u3164',
      '\u2800',
      '\u0000',
      '\u200d\ufe0f',
    ])
      expect(await refusalOf(engine.inbox.answer(ask.id, { ...no, comment }, as))).toMatchObject(missing)
    const resolution = { decision: 'reject' }
    expect(await refusalOf(engine.resume({ checkpoint: ask.id, resolution }, as))).toMatchObject(missing)
    expect(await engine.inbox.get(ask.id)).toMatchObject({ status: 'open' })
    await engine.inbox.answer(ask.id, yes, as)
    await run.result()
  },
)

test('every answer needs a comment if the ask requires one', async () => {
  await using engine = await testEngine({ procedures: [pick] })
  const run = await engine.run(pick)
  const ask = await engine.inbox.next({ run: run.id })
  expect(ask.decisions.map(({ comment }) => comment)).toEqual(['required', 'required'])
  expect(await refusalOf(engine.inbox.answer(ask.id, { choice: 'north' }, as))).toMatchObject(missing)
  await engine.inbox.answer(ask.id, { choice: 'north', comment: 'colder' }, as)
  expect(await run.result()).toBe('north')
  expect((await engine.inbox.get(ask.id))?.answer).toMatchObject({ comment: 'colder' })
})

test('an early answer without a required comment is discarded, and the question stays open', async () => {
  const later = procedure({ name: 'later' }, async (ctx) => {
    await ctx.sleep('1h')
    return ctx.human.approve('Refund?', { require: 'comment', key: 'ok' })
  })
  const { logger, lines } = keepLines()
  await using engine = await testEngine({ procedures: [later], logger })
  const run = await engine.run(later)
  await engine.advance('1m')
  await engine.inbox.answer({ run: run.id, key: 'ok' }, { approved: true }, as)
  const ask = await engine.inbox.next({ run: run.id })
  expect(ask).toMatchObject({ status: 'open', require: 'comment' })
  expect(lines).toMatchObject([{ fields: { issues: missing.details.issues } }])
})

test('a fork cannot replace an answer by one without a required comment', async () => {
  await using engine = await testEngine({ procedures: [refund] })
  const run = await engine.run(refund)
  const ask = await engine.inbox.next({ run: run.id })
  await engine.inbox.answer(ask.id, { approved: true }, as)
  await run.result()
  const fork = (answer: object) => engine.fork(run.id, { position: 1 }, { edit: { 0: answer } })
  expect(await refusalOf(fork({ approved: false }))).toMatchObject(missing)
  expect(await (await fork({ approved: false, comment: 'too late' })).result()).toMatchObject({
    approved: false,
    comment: 'too late',
  })
})

test('a timeout needs no comment', async () => {
  const brief = procedure({ name: 'brief' }, (ctx) =>
    ctx.human.approve('Refund?', { require: 'comment', timeout: '1h' }),
  )
  await using engine = await testEngine({ procedures: [brief], humans: silent })
  expect(await (await engine.run(brief)).result()).toMatchObject({ approved: false, timedOut: true })
})

test('a question without a rejection cannot require a comment on one', async () => {
  const wrong = procedure({ name: 'wrong', bugs: 'fail' }, (ctx) =>
    ctx.human.select('Which?', ['a', 'b'], { require: 'comment-on-reject' }),
  )
  await using engine = await testEngine({ procedures: [wrong] })
  const refused = await refusalOf((await engine.run(wrong)).result())
  expect(refused.message).toContain("Only approve, and a review with the choice 'reject', have a rejection")
})
