import { type Answer, type Client, createEngine, procedure } from '@pawl/core'
import { checkFound, findAskOf } from '@pawl/core/internal'
import { memory } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines, refusalOf } from './support.ts'

/** A procedure that asks for a list under the key `list`, once it is told to, and the number of items that its schema has seen. */
function listing() {
  const seen = { items: 0 }
  const item = z.any().refine(() => {
    seen.items += 1
    return true
  })
  const schema = z.object({ items: z.array(item).max(5), note: z.string() })
  const list = procedure({ name: 'listing', signals: { go: z.undefined() } }, async (ctx) => {
    await ctx.receive('go')
    return ctx.human.input('Which?', schema, { key: 'list' })
  })
  return { list, seen }
}

async function startEngine(list: ReturnType<typeof listing>['list']) {
  const { logger } = keepLines()
  const engine = await createEngine({ store: memory(), procedures: [list], logger })
  return Object.assign(engine, { [Symbol.asyncDispose]: () => engine.stop() })
}

const as = { as: 'user:ana' } as const
async function check(client: Pick<Client, 'inbox'>, id: string, answer: Answer): Promise<void> {
  const found = await findAskOf(client, id)
  if (found === null) throw new Error(`There is no ask ${id}.`)
  return checkFound(client, found, answer, as)
}

const good = { value: { items: [1, 2], note: 'fine' } }
const wrong = { value: { items: [1, 2], note: 7 } }

describe('the schema of the author sees no answer that the stored JSON Schema refuses', () => {
  test('a wrong answer is refused before the schema of the author sees it', async () => {
    const { list, seen } = listing()
    await using engine = await startEngine(list)
    const run = await engine.run(list)
    await run.signal('go')
    const ask = await engine.inbox.next({ run: run.id })
    expect(await refusalOf(check(engine, ask.id, wrong))).toMatchObject({
      code: 'answer-invalid',
    })
    expect(await refusalOf(engine.inbox.answer(ask.id, wrong, as))).toMatchObject({ code: 'answer-invalid' })
    expect(seen.items).toBe(0)
    await engine.inbox.answer(ask.id, good, as)
    await run.result()
    expect(seen.items).toBe(2)
  })

  test('a wrong early answer is discarded before the schema of the author sees it', async () => {
    const { list, seen } = listing()
    await using engine = await startEngine(list)
    const run = await engine.run(list)
    await engine.inbox.answer({ run: run.id, key: 'list' }, wrong, as)
    await run.signal('go')
    expect((await engine.inbox.next({ run: run.id })).status).toBe('open')
    expect(seen.items).toBe(0)
  })

  test('an answer beyond 2 MiB is refused before any schema sees it', async () => {
    const { list, seen } = listing()
    await using engine = await startEngine(list)
    const run = await engine.run(list)
    await run.signal('go')
    const ask = await engine.inbox.next({ run: run.id })
    const long = { value: { items: [1], note: 'x'.repeat(2 ** 21) } }
    const refused = { code: 'payload-refused' }
    expect(await refusalOf(check(engine, ask.id, long))).toMatchObject(refused)
    expect(await refusalOf(engine.inbox.answer(ask.id, long, as))).toMatchObject(refused)
    expect(seen.items).toBe(0)
  })
})
