import { createClient, createEngine, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { meddleWith } from '../support/meddling-store.ts'
import { minute, refusalOf } from './support.ts'

const greet = procedure({ name: 'greet', input: z.object({ name: z.string() }) }, async (ctx, { name }) => {
  await ctx.sleep('1h')
  return name
})
const silent = [{ ask: /./, answer: 'silence' as const }]

describe('lists', () => {
  test('runs are listed newest first, in pages, and by procedure, status and tag', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('?'))
    await using engine = await testEngine({ procedures: [greet, asking], humans: silent })
    for (let index = 0; index < 60; index++)
      await engine.run(
        greet,
        { name: `${index}` },
        { id: `g${index}`, tags: index % 2 === 0 ? ['even'] : [] },
      )
    await engine.run(asking, undefined, { id: 'a' })
    await engine.advance('2h')

    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await engine.list({ limit: 25, cursor })
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(seen).toEqual(['a', ...Array.from({ length: 60 }, (_, index) => `g${59 - index}`)])

    expect((await engine.list()).items).toHaveLength(50)
    expect((await engine.list({ tag: 'even', limit: 500 })).items).toHaveLength(30)
    expect((await engine.list({ procedure: 'asking' })).items.map(({ id }) => id)).toEqual(['a'])
    expect((await engine.list({ status: 'waiting' })).items.map(({ id }) => id)).toEqual(['a'])
    expect((await engine.list({ status: ['completed', 'waiting'], limit: 500 })).items).toHaveLength(61)
    expect((await engine.list({ status: 'failed' })).items).toEqual([])
    expect((await engine.inbox.list({ procedure: 'asking', kind: 'approve' })).items).toHaveLength(1)
    expect((await engine.inbox.list({ procedure: 'greet' })).items).toEqual([])
  })

  test('asks of several names are listed, and a count stops at 1,000', async () => {
    const asking = procedure({ name: 'asking', input: z.number() }, async (ctx, n) => {
      const to = ([['user:ana'], ['group:a', 'user:ana'], undefined, ['user:bob']] as const)[n % 4]
      await ctx.human.approve('{n}?', {
        data: { n },
        ...(to === undefined ? {} : { to }),
        ...(n === 3 ? { timeout: '1h', onTimeout: { escalateTo: 'role:boss' } } : {}),
      })
    })
    await using engine = await testEngine({ procedures: [asking], humans: silent })
    for (let n = 0; n < 8; n++) await engine.run(asking, n)
    await engine.advance('1m')
    const seen = async (filter: Parameters<typeof engine.inbox.list>[0]) => {
      const { items } = await engine.inbox.list({ ...filter, limit: 500 })
      expect(await engine.inbox.count(filter)).toEqual({ count: items.length, capped: false })
      return items.map(({ message }) => Number.parseInt(message, 10)).sort((a, b) => a - b)
    }
    expect(await seen({ to: 'user:ana' })).toEqual([0, 1, 4, 5])
    expect(await seen({ to: ['group:a', 'user:bob'] })).toEqual([1, 3, 5, 7])
    expect(await seen({ visibleTo: ['user:bob'] })).toEqual([2, 3, 6, 7])
    expect(await seen({ visibleTo: [] })).toEqual([2, 6])
    expect(await seen({ to: 'role:boss' })).toEqual([])
    await engine.advance('2h')
    expect(await seen({ to: 'role:boss' })).toEqual([3])
    expect((await engine.inbox.list({ to: 'role:boss' })).items[0]?.to).toEqual(['user:bob', 'role:boss'])
    for (const filter of [
      { to: [] },
      { to: ['nobody'] },
      { to: 'user:ana', visibleTo: [] },
      { visibleTo: 'user:ana' },
      { to: Array.from({ length: 201 }, (_, n) => `user:${n}`) },
    ]) {
      expect(await refusalOf(engine.inbox.list(filter as never))).toMatchObject({ code: 'option-invalid' })
      expect(await refusalOf(engine.inbox.count(filter as never))).toMatchObject({ code: 'option-invalid' })
    }
    expect(await refusalOf(engine.inbox.count({ limit: 3 } as never))).toMatchObject({
      code: 'option-invalid',
    })
  })

  test('asks are listed in pages, each ask once, although time passes in between', async () => {
    const asking = procedure({ name: 'asking', input: z.number() }, (ctx, n) =>
      ctx.human.approve('{n}?', { data: { n }, timeout: '1h', onTimeout: 'escalate' }),
    )
    await using engine = await testEngine({ procedures: [asking], humans: silent })
    for (let n = 0; n < 30; n++) await engine.run(asking, n)
    await engine.advance('30m')
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await engine.inbox.list({ limit: 7, cursor })
      seen.push(...page.items.map(({ message }) => message))
      cursor = page.cursor
      await engine.advance('20m')
    } while (cursor !== undefined)
    expect(seen).toEqual(Array.from({ length: 30 }, (_, n) => `${n}?`))
  })

  test('closed asks are listed in pages, each ask once', async () => {
    const asking = procedure({ name: 'asking', input: z.number() }, (ctx, n) =>
      ctx.human.approve('{n}?', { data: { n }, ...(n % 3 === 0 ? {} : { timeout: '1h' }) }),
    )
    await using engine = await testEngine({ procedures: [asking], humans: silent })
    for (let n = 0; n < 30; n++) await engine.run(asking, n)
    await engine.advance('1m')
    const { items } = await engine.inbox.list()
    for (const { id, message } of items)
      if (Number.parseInt(message, 10) % 2 === 0)
        await engine.inbox.answer(id, { approved: true }, { as: 'user:ana' })
    await engine.advance('2h')
    for (const status of ['answered', 'timed-out', 'open'] as const) {
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await engine.inbox.list({ status, limit: 4, cursor })
        for (const ask of page.items) {
          expect(ask.status).toBe(status)
          seen.push(ask.message)
        }
        cursor = page.cursor
      } while (cursor !== undefined)
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen.length).toBe({ answered: 15, 'timed-out': 10, open: 5 }[status])
    }
  })

  test('an expired ask is listed as timed out before its timeout is recorded', async () => {
    const asking = procedure({ name: 'asking', input: z.string() }, (ctx, timeout) =>
      ctx.human.approve('{timeout}?', {
        ...{ data: { timeout }, timeout: timeout as '1s' },
        risk: timeout === '6m' ? 'high' : 'low',
      }),
    )
    let now = Date.now()
    const store = memory({ now: () => now })
    const engine = await createEngine({ store, procedures: [asking] })
    const first = await engine.run(asking, '1ms')
    await engine.inbox.next({ run: first.id })
    now += 10
    await first.result()
    for (const timeout of ['5m', '6m', '1h'])
      await engine.inbox.next({ run: (await engine.run(asking, timeout)).id })
    await engine.stop()
    now += 10 * minute
    const client = createClient({ store })
    const messagesOf = async (filter: object): Promise<readonly string[]> => {
      const seen: string[] = []
      for (let cursor: string | undefined; ; ) {
        const page = await client.inbox.list({ ...filter, limit: 1, cursor })
        seen.push(...page.items.map(({ message }) => message))
        cursor = page.cursor
        if (cursor === undefined) return seen
      }
    }
    expect(await messagesOf({})).toEqual(['1h?'])
    expect(await messagesOf({ overdue: true })).toEqual([])
    expect(await messagesOf({ status: 'timed-out' })).toEqual(['6m?', '1ms?', '5m?'])
    expect((await client.inbox.next()).message).toBe('1h?')
    await client.stop()
  })

  test('a list of asks misses none that is recorded meanwhile', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('?', { timeout: '5m' }))
    let now = Date.now()
    const store = memory({ now: () => now })
    const meddling = meddleWith(store)
    const before = await createEngine({ store, procedures: [asking] })
    const run = await before.run(asking)
    await before.inbox.next()
    await before.stop()
    let recordsIt = true
    meddling.always('asks.list', async (go, [query]) => {
      if ((query as { readonly status: string }).status === 'timed-out' && recordsIt) {
        recordsIt = false
        const after = await createEngine({ store, procedures: [asking] })
        await after.get(run.id).result()
        await after.stop()
      }
      return go()
    })
    now += 10 * minute
    const client = createClient({ store: meddling.store })
    expect((await client.inbox.list({ status: 'timed-out' })).items).toHaveLength(1)
    expect(recordsIt).toBe(false)
    await client.stop()
  })

  test('reading a long log does not delay other calls', async () => {
    const long = procedure({ name: 'long' }, async (ctx) => {
      await Promise.all(Array.from({ length: 300 }, () => ctx.step('large', () => 'x'.repeat(30_000))))
      await Promise.all(Array.from({ length: 3_000 }, () => ctx.step('small', () => 1)))
    })
    const engine = await createEngine({ store: memory(), procedures: [long] })
    const run = await engine.run(long)
    await run.result()
    let rounds = 0
    let isOver = false
    const count = (): void => {
      rounds++
      if (!isOver) setImmediate(count)
    }
    count()
    const { execution_log } = await engine.log(run.id)
    isOver = true
    expect(execution_log.length).toBe(3_300)
    // Nine megabytes in pages of one, but for the first, and then some of 1,000 entries.
    expect(rounds).toBeGreaterThan(9)
    await engine.stop()
  })

  test('invalid waits reject, and throw nothing past the caller', async () => {
    await using virtual = await testEngine({ procedures: [greet] })
    const engine = await createEngine({ store: memory(), procedures: [greet] })
    const wrong = { odd: 1 } as never
    for (const { run, runOrGet, get, list, log, inbox, stop } of [virtual, engine]) {
      const handle = get(greet, 'g')
      const calls: readonly (() => Promise<unknown>)[] = [
        () => run(greet, { name: 'Ada' }, wrong),
        () => runOrGet(greet, { name: 'Ada' }, wrong),
        () => list(wrong),
        () => log(wrong),
        () => inbox.list(wrong),
        () => inbox.next(wrong),
        () => inbox.get(wrong),
        () => inbox.answer(wrong, wrong, wrong),
        () => handle.result(wrong),
        () => handle.signal('none' as never, wrong),
        () => stop(wrong),
      ]
      for (const call of calls) expect(await refusalOf(call())).toMatchObject({ code: 'option-invalid' })
    }
    await engine.stop()
  })

  test.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: 501 }],
    ['status', { status: 'odd' }],
    ['status', { status: [] }],
    ['cursor', { cursor: 'abc' }],
    ['tagg', { tagg: 'x' }],
  ])('refuse a wrong %s', async (_, filter) => {
    await using engine = await testEngine({ procedures: [] })
    expect(await refusalOf(engine.list(filter as object))).toMatchObject({ code: 'option-invalid' })
    expect(await refusalOf(engine.inbox.list(filter as object))).toMatchObject({ code: 'option-invalid' })
  })
})
