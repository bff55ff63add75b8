import { createClient, type Issue, procedure, ref, type Schema } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines, refusalOf } from './support.ts'

const as = { as: 'user:ana' } as const

/** Refuses what is not 'good', with a million issues, long ones. */
const wordy: Schema<string> = {
  '~standard': {
    version: 1,
    vendor: 'wordy',
    validate: (value: unknown) => (value === 'good' ? { value } : { issues }),
  },
}
const issues = Array.from({ length: 1_000_000 }, () => ({
  message: 'no '.repeat(10_000),
  path: ['list', 3, 'k'.repeat(10_000)],
}))

/** What every refusal has, whatever was refused: a hundred short issues, and that there are more. */
function expectFew(refusal: { readonly details: unknown; readonly message: string }): void {
  const { issues, more } = refusal.details as { readonly issues: readonly Issue[]; readonly more?: true }
  expect(issues).toHaveLength(100)
  expect(more).toBe(true)
  for (const { path, message } of issues) {
    expect(path.length).toBeLessThanOrEqual(200)
    expect(message.length).toBeLessThanOrEqual(500)
  }
  expect(refusal.message).toContain('; and more than 95 others')
  expect(refusal.message.length).toBeLessThan(5_000)
}

describe('of a million issues a hundred are kept, and the message says that there are more', () => {
  test('a hundred of a million issues of an input are kept, with a note that there are more', async () => {
    const picky = procedure({ name: 'picky', input: wordy }, async () => 1)
    await using engine = await testEngine({ procedures: [picky] })
    const refusal = await refusalOf(engine.run(picky, 'bad'))
    expect(refusal.code).toBe('input-invalid')
    expectFew(refusal)
  })

  test('a hundred of a million issues of an input validated by a worker are kept', async () => {
    const picky = procedure({ name: 'picky', input: wordy }, async () => 1)
    await using engine = await testEngine({ procedures: [picky] })
    const run = await engine.run(ref<typeof picky>('picky'), 'bad')
    expectRecorded(await refusalOf(run.result()), 'input-invalid')
  })

  test('a hundred of a million issues of an output are kept', async () => {
    const picky = procedure({ name: 'picky', output: wordy }, async () => 'bad')
    await using engine = await testEngine({ procedures: [picky] })
    expectRecorded(await refusalOf((await engine.run(picky)).result()), 'output-invalid')
  })

  test('a hundred of a million issues of a signal are kept', async () => {
    const waiting = procedure({ name: 'waiting', signals: { say: wordy } }, (ctx) => ctx.receive('say'))
    await using engine = await testEngine({ procedures: [waiting] })
    const run = await engine.run(waiting)
    const refusal = await refusalOf(run.signal('say', 'bad'))
    expect(refusal.code).toBe('payload-invalid')
    expectFew(refusal)
  })

  test('a hundred of a million issues of a signal validated by a worker are logged', async () => {
    const { logger, lines } = keepLines()
    const waiting = procedure({ name: 'waiting', signals: { say: wordy } }, (ctx) => ctx.receive('say'))
    const store = memory()
    await using engine = await testEngine({ procedures: [waiting], store, logger })
    const run = await engine.run(waiting)
    const client = createClient({ store })
    const untyped = client.get(run.id) as unknown as typeof run
    await untyped.signal('say', 'bad')
    await untyped.signal('say', 'good')
    await client.stop()
    expect(await run.result()).toBe('good')
    expectLogged(lines, 'signal "say" is invalid')
  })

  test('a hundred of a million issues found by the schema of an answer are kept', async () => {
    const asks = procedure({ name: 'asks' }, (ctx) => ctx.human.input('Word?', wordy))
    await using engine = await testEngine({ procedures: [asks] })
    await engine.run(asks)
    const ask = await engine.inbox.next()
    const refusal = await refusalOf(engine.inbox.answer(ask.id, { value: 'bad' }, as))
    expect(refusal.code).toBe('answer-invalid')
    expectFew(refusal)
    expect((await engine.inbox.get(ask.id))?.status).toBe('open')
  })

  test('a hundred of a million issues of an answer validated by a worker are kept', async () => {
    const asks = procedure({ name: 'asks' }, (ctx) => ctx.human.input('Word?', wordy))
    const store = memory()
    await using engine = await testEngine({ procedures: [asks], store })
    const run = await engine.run(asks)
    const ask = await engine.inbox.next()
    const client = createClient({ store })
    await client.inbox.answer(ask.id, { value: 'bad' }, as)
    await client.stop()
    expectRecorded(await refusalOf(run.result()), 'answer-invalid')
  })

  test('a hundred of a million issues found by the JSON Schema of an answer are kept', async () => {
    const asks = procedure({ name: 'asks' }, (ctx) =>
      ctx.human.input('Numbers?', z.array(z.union([z.number(), z.boolean()]))),
    )
    const store = memory()
    await using engine = await testEngine({ procedures: [asks], store })
    await engine.run(asks)
    const ask = await engine.inbox.next()
    const client = createClient({ store })
    const value = Array.from({ length: 100_000 }, () => 'x') as never[]
    const refusal = await refusalOf(client.inbox.answer(ask.id, { value }, as))
    await client.stop()
    expect(refusal.code).toBe('answer-invalid')
    expectFew(refusal)
    expect(refusal.message).toContain('value[0]: must be number or boolean')
  })

  test('a hundred of a million issues of an early answer are logged', async () => {
    const { logger, lines } = keepLines()
    const asks = procedure({ name: 'asks' }, async (ctx) => {
      await ctx.sleep('1h')
      return ctx.human.input('Word?', wordy, { key: 'word' })
    })
    await using engine = await testEngine({
      procedures: [asks],
      logger,
      humans: [{ ask: 'Word?', answer: { value: 'good' } }],
    })
    const run = await engine.run(asks)
    await engine.inbox.answer({ run: run.id, key: 'word' }, { value: 'bad' }, as)
    expect(await run.result()).toBe('good')
    expectLogged(lines, 'Early answer')
  })
})

/** In a log there is less room: what is kept of the details says so too. */
function expectRecorded(refusal: { readonly details: unknown }, code: string): void {
  const { cause } = refusal.details as { readonly cause: { readonly code: string; readonly message: string } }
  expect(cause.code).toBe(code)
  expect(cause.message).toContain('; and more than 95 others')
  expect(cause.message.length).toBeLessThan(5_000)
}

function expectLogged(lines: ReturnType<typeof keepLines>['lines'], part: string): void {
  const line = lines.find(({ message }) => message.includes(part))
  expect(line?.fields).toMatchObject({ issues: { length: 100 }, more: true })
}
