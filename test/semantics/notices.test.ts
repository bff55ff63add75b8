import { createClient, FinalError, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines } from './support.ts'

const late = procedure({ name: 'late', input: z.string(), owner: 'group:shop' }, async (ctx, order) => {
  await ctx.human.notify('Order {order} is late', { data: { order }, severity: 'warning', to: 'group:ops' })
  await ctx.human.notify('Order {order} is known', { data: { order } })
  await ctx.step('fails', () => Promise.reject(new FinalError('no')), { retry: false })
})

describe('human.notify', () => {
  test('a notice is listed for its audience, with read marks of each person', async () => {
    await using engine = await testEngine({ procedures: [late] })
    const run = await engine.run(late, 'A-1', { by: 'user:zoe' })
    await run.result().catch(() => {})
    const { items } = await engine.inbox.notices()
    expect(items).toMatchObject([
      { message: 'Order A-1 is known', to: ['group:shop'], severity: 'info', kind: 'notice', run: run.id },
      {
        message: 'Order A-1 is late',
        to: ['group:ops'],
        severity: 'warning',
        startedBy: 'user:zoe',
        isRead: false,
      },
    ])
    const seen = async (...names: readonly `group:${string}`[]) =>
      (await engine.inbox.notices({ visibleTo: names })).items.map(({ message }) => message)
    expect(await seen('group:ops')).toEqual(['Order A-1 is late'])
    expect(await seen()).toEqual([])
    const [known] = items
    expect(await engine.inbox.readNotices([known?.id ?? ''], { as: 'user:ana' })).toBe(1)
    const unread = await engine.inbox.notices({ reader: 'user:ana', unread: true })
    expect(unread.items.map(({ message }) => message)).toEqual(['Order A-1 is late'])
    expect((await engine.inbox.notices({ reader: 'user:bo', unread: true })).items).toHaveLength(2)
  })

  test('the logger has a notice at the level of its severity', async () => {
    const { logger, lines } = keepLines()
    const levels = procedure({ name: 'levels' }, async (ctx) => {
      for (const severity of ['info', 'warning', 'error', 'critical'] as const)
        await ctx.human.notify(`It is ${severity}`, { severity })
    })
    await using engine = await testEngine({ procedures: [levels], logger })
    await (await engine.run(levels)).result()
    expect(lines.filter(({ message }) => message.startsWith('It is')).map(({ level }) => level)).toEqual([
      'info',
      'warn',
      'error',
      'error',
    ])
  })

  test('a replay, a crash and a retry say nothing twice', async () => {
    await using engine = await testEngine({ procedures: [late], replay: 'always' })
    await engine.crash('every')
    const run = await engine.run(late, 'A-1', { id: 'a' })
    await run.result().catch(() => {})
    await engine.retry('a')
    await run.result().catch(() => {})
    expect((await engine.inbox.notices({ run: 'a' })).items).toHaveLength(2)
  })

  test('a fork has notices of its own only, and an imported run has those of its file', async () => {
    const store = memory()
    await using engine = await testEngine({ procedures: [late], store })
    const run = await engine.run(late, 'A-1', { id: 'a' })
    await run.result().catch(() => {})
    const fork = await engine.fork('a', { position: 1 }, { id: 'fork' })
    await fork.result().catch(() => {})
    const ofFork = (await engine.inbox.notices({ run: 'fork' })).items
    expect(ofFork.map(({ message }) => message)).toEqual(['Order A-1 is known'])
    const other = createClient({ store: memory() })
    await other.import(await engine.export('a'))
    const imported = (await other.inbox.notices({ run: 'a' })).items
    expect(imported.map(({ message }) => message)).toEqual(['Order A-1 is known', 'Order A-1 is late'])
    await other.delete('a')
    expect((await other.inbox.notices()).items).toEqual([])
    await other.stop()
  })
})

describe('an undo that fails', () => {
  const paid = procedure({ name: 'paid', owner: 'group:money', signals: { go: z.void() } }, async (ctx) => {
    await ctx.step('charge', () => {}, { undo: () => Promise.reject(new FinalError('the bank says no')) })
    await ctx.receive('go')
  })

  test('is a critical notice to the owner, and its run is found by rollback: failed', async () => {
    await using engine = await testEngine({ procedures: [paid, late] })
    const run = await engine.run(paid, undefined, { id: 'pay:1' })
    await engine.run(late, 'A-1')
    await engine.advance('1s')
    await run.cancel()
    await run.result().catch(() => {})
    const { items } = await engine.list({ rollback: 'failed' })
    expect(items.map(({ id, status }) => [id, status])).toEqual([['pay:1', 'cancelled']])
    expect((await engine.inbox.notices({ run: 'pay:1' })).items).toMatchObject([
      {
        kind: 'failed-undo',
        severity: 'critical',
        to: ['group:money'],
        message: expect.stringContaining('charge'),
      },
    ])
  })

  test('of a plan is found while its run still waits', async () => {
    const stuck = {
      run: () => 'sent',
      undo: () => Promise.reject(new FinalError('stuck')),
      retry: false as const,
    }
    const planned = procedure({ name: 'planned', signals: { go: z.void() } }, async (ctx) => {
      await ctx.plan(
        [
          { id: 'send', use: 'send' },
          { id: 'tell', use: 'tell', needs: ['send'] },
        ],
        {
          use: { send: stuck, tell: { run: () => Promise.reject(new FinalError('no')), retry: false } },
          onError: 'rollback',
        },
      )
      await ctx.receive('go')
    })
    await using engine = await testEngine({ procedures: [planned] })
    const run = await engine.run(planned, undefined, { id: 'p' })
    await engine.advance('1s')
    expect((await run.status()).status).toBe('waiting')
    expect((await engine.list({ rollback: 'failed' })).items.map(({ id }) => id)).toEqual(['p'])
  })
})
