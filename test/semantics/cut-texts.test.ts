import { type Ctx, decider, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'

/** A draft that was cut in the middle of an emoji, and what people read of it. */
const cut = 'Sale 🎉🎉'.slice(0, 6)
const shown = 'Sale \uFFFD'

describe('a text that was cut in the middle of an emoji', () => {
  test('a question shows it repaired wherever people only read it, and keeps the params as they are', async () => {
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      const { params } = (await ctx.human.approve(`${cut} {draft} {note}?`, {
        params: { draft: cut },
        data: { note: cut },
        details: [{ title: cut, body: cut }],
        links: [{ label: cut, url: 'https://shop.example' }],
        alternatives: [{ label: cut, description: cut }],
        risk: { level: 'low', reasons: [cut], impact: { currency: cut, affects: cut } },
      })) as { readonly params: { readonly draft: string } }
      return params.draft === cut
    })
    await using engine = await testEngine({ store: memory(), procedures: [asking] })
    const run = await engine.run(asking)
    const ask = await engine.inbox.next({ run: run.id })
    expect(ask).toMatchObject({
      message: `${shown} ${shown} ${shown}?`,
      params: { draft: cut },
      details: [{ title: shown, body: cut }],
      links: [{ label: shown }],
      alternatives: [{ label: shown, description: shown }],
      risk: { reasons: [shown], impact: { currency: shown, affects: shown } },
    })
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana', digest: ask.digest })
    expect(await run.result()).toBe(true)
  })

  test('the choices of a question show it repaired', async () => {
    const choosing = procedure({ name: 'choosing' }, (ctx) =>
      ctx.human.select(cut, [{ value: 'go', label: cut, effect: cut }]),
    )
    await using engine = await testEngine({ procedures: [choosing] })
    const run = await engine.run(choosing)
    expect(await engine.inbox.next({ run: run.id })).toMatchObject({
      message: shown,
      choices: [{ value: 'go', label: shown, effect: shown }],
    })
  })

  test.each([
    ['a notice', (ctx: Ctx) => ctx.human.notify(`${cut} {note}`, { data: { note: cut } })],
    ['the message of progress', (ctx: Ctx) => ctx.progress({ done: 1, message: cut })],
    ['the reason of a rollback', (ctx: Ctx) => ctx.rollback(cut)],
    ['the question of a decision', (ctx: Ctx) => ctx.agent.decide(cut, ['go'], { fallback: 'go' })],
  ])('%s with it does not stop the run', async (_, act) => {
    const acting = procedure({ name: 'acting' }, async (ctx) => {
      await act(ctx)
      return 'ok'
    })
    const judge = decider('judge', async () => ({ choice: 'go', rationale: 'fine', confidence: 1 }))
    await using engine = await testEngine({ procedures: [acting], decider: judge })
    expect(await (await engine.run(acting)).result()).toBe('ok')
  })

  test('a reason for a cancellation is stored repaired', async () => {
    const waiting = procedure({ name: 'waiting' }, (ctx) => ctx.human.approve('Go?'))
    await using engine = await testEngine({ procedures: [waiting] })
    const run = await engine.run(waiting)
    await engine.inbox.next({ run: run.id })
    await run.cancel(cut)
    await expect(run.result()).rejects.toThrow(shown)
  })
})
