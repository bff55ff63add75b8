// oxlint-disable typescript/no-floating-promises -- nothing here is run
// biome-ignore-all lint/complexity/noBannedTypes: no signals and no params are {}
// biome-ignore-all lint/suspicious/noConfusingVoidType: the type of z.void()
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  type Ask,
  type Client,
  type Engine,
  type ExecutionLog,
  type Page,
  procedure,
  type RunHandle,
  type RunView,
  ref,
} from '../../src/index.ts'

declare const engine: Engine
declare const client: Client

const order = procedure(
  {
    name: 'order',
    input: z.object({ id: z.string() }),
    signals: { paid: z.object({ cents: z.number() }), stop: z.void(), note: z.string().optional() },
  },
  async () => 'done' as const,
)
const hello = procedure({ name: 'hello' }, async () => 1)
type OrderTalk = { signals: { paid: { cents: number }; stop: void; note: string | undefined } }

describe('starting', () => {
  test('returns a handle with the types of the procedure', () => {
    expectTypeOf(engine.run(order, { id: 'a' })).toEqualTypeOf<Promise<RunHandle<'done', OrderTalk>>>()
    expectTypeOf(
      client.run(order, { id: 'a' }, { id: 'order:a', by: 'user:ana', tags: ['x'] }),
    ).toEqualTypeOf<Promise<RunHandle<'done', OrderTalk>>>()
    expectTypeOf(client.runOrGet(order, { id: 'a' }, { id: 'order:a' })).toEqualTypeOf<
      Promise<RunHandle<'done', OrderTalk>>
    >()
  })

  test('requires no input if the procedure takes none', () => {
    expectTypeOf(engine.run(hello)).toEqualTypeOf<Promise<RunHandle<number, {}>>>()
    engine.run(hello, undefined, { id: 'hello:1' })
  })

  test('infers the same types from a ref', () => {
    expectTypeOf(client.run(ref<typeof order>('order'), { id: 'a' })).toEqualTypeOf<
      Promise<RunHandle<'done', OrderTalk>>
    >()
  })
})

describe('a handle', () => {
  test('returns a handle synchronously, with a typed result', () => {
    expectTypeOf(client.get(order, 'a')).toEqualTypeOf<RunHandle<'done', OrderTalk>>()
    expectTypeOf(client.get(order, 'a').result({ timeout: '1m' })).toEqualTypeOf<Promise<'done'>>()
    expectTypeOf(client.get('a').result()).toEqualTypeOf<Promise<unknown>>()
    expectTypeOf(client.get('a').status()).toEqualTypeOf<Promise<RunView>>()
  })

  test('types the payload of a signal', () => {
    const run = client.get(order, 'a')
    run.signal('paid', { cents: 1 })
    run.signal('paid', { cents: 1 }, { id: 'event:1' })
    run.signal('stop')
    run.signal('stop', undefined)
    run.signal('stop', { id: 'event:2' })
    run.signal('stop', undefined, { id: 'event:2' })
    run.signal('note', undefined)
    run.signal('note', 'x', { id: 'event:3' })
  })

  test('accepts any signal on a handle without a procedure', () => {
    client.get('a').signal('paid', { cents: 1 })
    client.get('a').signal('paid', { cents: 1 }, { id: 'event:1' })
    client.get('a').signal('stop')
  })
})

test('returns lists in pages', () => {
  expectTypeOf(client.list({ status: ['stuck', 'failed'], limit: 10 })).toEqualTypeOf<
    Promise<Page<RunView>>
  >()
  expectTypeOf(client.inbox.list({ to: 'group:ops', overdue: true })).toEqualTypeOf<Promise<Page<Ask>>>()
  expectTypeOf(client.inbox.get('a/1')).toEqualTypeOf<Promise<Ask | null>>()
  expectTypeOf(client.inbox.next()).toEqualTypeOf<Promise<Ask>>()
  expectTypeOf(client.log('a')).toEqualTypeOf<Promise<ExecutionLog>>()
})

test('types answers like the results in a procedure', () => {
  client.inbox.answer('a/1', { approved: true, params: { amount: 1 }, comment: 'ok' }, { as: 'user:ana' })
  client.inbox.answer('a/1', { approved: false }, { as: 'user:ana' })
  client.inbox.answer('a/1', { value: { name: 'Ada' } }, { as: 'policy:night' })
  client.inbox.answer({ run: 'a', key: 'go?' }, { choice: 'go', artifact: 'text' }, { as: 'user:ana' })
})

test('types an engine as a client whose stop has a limit', () => {
  expectTypeOf(engine).toExtend<Client>()
  engine.stop({ within: '30s' })
  client.stop()
})
