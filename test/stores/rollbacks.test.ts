import { type Client, type Ctx, FinalError, type Procedure, procedure } from '@pawl/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startBareEngine } from '../support/bare-engine.ts'
import { makePlaces } from '../support/test-store.ts'

// biome-ignore lint/suspicious/noExplicitAny: procedures of any types
type AnyProcedure = Procedure<any, any, any>

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const stop = (): never => {
  throw new FinalError('stop')
}

/** Opens when it has been asked for by this many bodies: their results are then in one commit. */
function gate(count: number): () => Promise<void> {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let waiting = 0
  return () => {
    if (++waiting === count) open()
    return opened
  }
}

describe('a rollback', () => {
  const makePlace = makePlaces()
  const done: string[] = []

  async function start(
    replay: 'when-needed' | 'always',
    ...procedures: readonly AnyProcedure[]
  ): Promise<Client> {
    done.length = 0
    const place = await makePlace()
    const { client, stop } = await startBareEngine({
      ...{ store: place.store, procedures, logger: silent, replay },
      keep: { runs: 10, bytes: 1_000_000 },
    })
    onTestFinished(async () => {
      await stop()
      await place.remove()
    })
    return client
  }
  const step = (ctx: Ctx, name: string, body: () => unknown = () => {}) =>
    ctx.step(
      name,
      async () => {
        const result = await body()
        done.push(name)
        return result
      },
      { retry: false, undo: () => done.push(`undo ${name}`) },
    )

  describe.each(['when-needed', 'always'] as const)('replayed %s', (replay) => {
    test('an undo that a shield registers after the failure runs, before the undos of earlier steps', async () => {
      const saga = procedure({ name: 'saga', signals: { go: z.void() } }, async (ctx) => {
        await step(ctx, 'early')
        const shielded = ctx.shield(async (inner) => {
          await inner.receive('go')
          await step(inner, 'shielded')
        })
        shielded.catch(() => {})
        await ctx.step('fail', stop, { retry: false })
      })
      const engine = await start(replay, saga)
      const run = await engine.run(saga)
      await run.signal('go')
      await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
      expect(done).toEqual(['early', 'shielded', 'undo shielded', 'undo early'])
      expect((await run.status()).rollback).toMatchObject({ undone: ['shielded', 'early'] })
    })

    test('a shield that registers the only undo after the failure has it run', async () => {
      const saga = procedure({ name: 'saga', signals: { go: z.void() } }, async (ctx) => {
        const shielded = ctx.shield(async (inner) => {
          await inner.receive('go')
          inner.onRollback('late', () => done.push('undo late'))
        })
        shielded.catch(() => {})
        await ctx.step('fail', stop, { retry: false })
      })
      const engine = await start(replay, saga)
      const run = await engine.run(saga)
      await run.signal('go')
      await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
      expect(done).toEqual(['undo late'])
    })

    test('a step whose result is in the commit of the failure is undone', async () => {
      const saga = procedure({ name: 'saga' }, async (ctx) => {
        const together = gate(2)
        await Promise.all([
          ctx.step('fail', () => together().then(stop), { retry: false }),
          step(ctx, 'beside', together),
        ])
      })
      const engine = await start(replay, saga)
      const run = await engine.run(saga)
      await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
      expect(done).toEqual(['beside', 'undo beside'])
      const { execution_log } = await engine.log(run.id)
      expect(execution_log.map(({ type, name, status }) => `${type} ${name} ${status}`)).toEqual([
        'step fail failed',
        'step beside done',
        'undo beside done',
      ])
    })

    test('a failing undo waits for the owner, whatever is cancelled, and is run again until it succeeds', async () => {
      let failures = 2
      const saga = procedure(
        { name: 'saga', owner: 'group:finance', rollback: { onFailure: 'ask' } },
        async (ctx) => {
          await step(ctx, 'early')
          ctx.onRollback('pay back', () => {
            if (failures-- > 0) throw new FinalError('the bank is closed')
            done.push('paid back')
          })
          await ctx.step('fail', stop, { retry: false })
        },
      )
      const engine = await start(replay, saga)
      const run = await engine.run(saga)
      const first = await engine.inbox.next({ run: run.id })
      expect(first).toMatchObject({
        ...{ kind: 'escalate', to: ['group:finance'], choices: [{ value: 'again' }, {}, {}] },
        error: { code: 'step-failed', message: expect.stringContaining('the bank is closed') },
      })
      await run.cancel()
      await engine.inbox.answer(first.id, { choice: 'again' }, { as: 'user:ana' })
      const second = await engine.inbox.next({ run: run.id })
      await engine.inbox.answer(second.id, { choice: 'again' }, { as: 'user:ana' })
      await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
      expect(done).toEqual(['early', 'paid back', 'undo early'])
      expect((await run.status()).rollback).toMatchObject({ undone: ['pay back', 'early'], failed: [] })
    })

    test('an invalid output undoes nothing, and the view says so', async () => {
      const saga = procedure({ name: 'saga', output: z.number() }, async (ctx) => {
        await step(ctx, 'one')
        await step(ctx, 'two')
        return 'text' as never
      })
      const engine = await start(replay, saga)
      const run = await engine.run(saga)
      await expect(run.result()).rejects.toMatchObject({ details: { cause: { code: 'output-invalid' } } })
      expect(done).toEqual(['one', 'two'])
      expect((await run.status()).rollback).toMatchObject({
        ...{ reason: expect.stringContaining('output'), undone: [], failed: [] },
        skipped: '2 undos did not run (one, two): the procedure had returned, and only its output is invalid',
      })
    })

    test('an item of a map that a failed item closed is undone by ctx.rollback', async () => {
      const saga = procedure({ name: 'saga' }, async (ctx) => {
        const together = gate(2)
        await ctx
          .map(['fail', 'beside'], (name, inner) =>
            name === 'fail'
              ? inner.step('fail', () => together().then(stop), { retry: false })
              : step(inner, name, together),
          )
          .catch(() => {})
        await ctx.rollback('an item failed')
        done.push('rolled back')
      })
      const engine = await start(replay, saga)
      const run = await engine.run(saga)
      await run.result()
      expect(done.slice(0, 3)).toEqual(['beside', 'undo beside', 'rolled back'])
    })
  })
})
