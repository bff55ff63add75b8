import { createEngine, PawlError, procedure } from '@pawl/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { makePlaces } from '../support/test-store.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

describe('edited answers of a fork', () => {
  const makePlace = makePlaces()
  const contact = z.object({ name: z.string(), tags: z.array(z.string()).default(['none']) })
  const asking = procedure({ name: 'asking' }, async (ctx) => {
    const paid = await ctx.human.approve('Pay?', {
      params: { cents: 45, card: 'visa' },
      editable: ['cents'],
    })
    const given = await ctx.human.input('Who?', contact)
    const how = await ctx.human.select('How?', ['cash', 'card'])
    return [paid.approved, paid.approved ? paid.params : null, given, how]
  })
  const answers = [{ approved: true }, { value: { name: 'Ana' } }, { choice: 'cash' }]

  async function setUp() {
    const place = await makePlace()
    const engine = await createEngine({ store: place.store, logger: silent, procedures: [asking] })
    onTestFinished(async () => {
      await engine.stop()
      await place.remove()
    })
    const run = await engine.run(asking, undefined, { id: 'r' })
    const answerAll = async (id: string, from: number) => {
      for (const answer of answers.slice(from))
        await engine.inbox.answer((await engine.inbox.next({ run: id })).id, answer as never, {
          as: 'user:ana',
        })
      return engine.get(asking, id).result()
    }
    expect(await answerAll(run.id, 0)).toEqual([
      ...[true, { cents: 45, card: 'visa' }, { name: 'Ana', tags: ['none'] }],
      'cash',
    ])
    /** Forks the run with one answer edited, and answers what is asked behind it. */
    const fork = async (position: number, answer: object) => {
      const { id } = await engine.fork('r', { position: 3 }, { edit: { [position]: answer } })
      return answerAll(id, position + 1)
    }
    return { engine, fork }
  }

  test('an edited answer is completed as that of a person', async () => {
    const { fork } = await setUp()
    const params = { cents: 45, card: 'visa' }
    const ana = { name: 'Ana', tags: ['none'] }
    expect(await fork(0, { approved: true })).toEqual([true, params, ana, 'cash'])
    const edited = { approved: true, params: { cents: 7 } }
    expect(await fork(0, edited)).toEqual([true, { ...params, cents: 7 }, ana, 'cash'])
    expect(await fork(0, { approved: false, comment: 'too much' })).toEqual([false, null, ana, 'cash'])
    expect(await fork(1, { value: { name: 'Bo' } })).toEqual([true, params, { ...ana, name: 'Bo' }, 'cash'])
    expect(await fork(2, { choice: 'card' })).toEqual([true, params, ana, 'card'])
  })

  test('an answer that no person could give is refused, and the refusal names the ask and the path', async () => {
    const { engine, fork } = await setUp()
    const refused: readonly (readonly [number, object, string, string])[] = [
      [0, { approved: 'yes' }, 'Pay?', 'approved'],
      [0, { approved: true, params: { cents: 7, card: 'amex' } }, 'Pay?', 'params.card'],
      [0, { approved: false, by: 'user:bo' }, 'Pay?', 'by'],
      [1, { value: { name: 7 } }, 'Who?', 'value.name'],
      [1, { approved: true }, 'Who?', 'approved'],
      [2, { choice: 'cheque' }, 'How?', 'choice'],
    ]
    for (const [position, answer, message, path] of refused) {
      const refusal = await fork(position, answer).catch((error: unknown) => error)
      if (!PawlError.is(refusal, 'answer-invalid')) throw refusal
      expect(refusal.details.issues).toMatchObject([{ path }])
      expect(refusal.message).toContain(`"${message}" at position ${position}`)
      await expect(
        engine.previewFork('r', { position: 3 }, { edit: { [position]: answer } }),
      ).rejects.toMatchObject({
        code: 'answer-invalid',
      })
    }
    expect((await engine.list()).items).toHaveLength(1)
  })
})
