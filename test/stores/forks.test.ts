import { createEngine, type Engine, type ForkChanges, type ForkPoint, PawlError, procedure } from '@pawl/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { meddleWith } from '../support/meddling-store.ts'
import { makePlaces } from '../support/test-store.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

describe('a fork asked for again', () => {
  const makePlace = makePlaces()
  async function setUp() {
    const place = await makePlace()
    const checks = { until: Promise.resolve() }
    const order = procedure(
      { name: 'order', input: z.object({ round: z.number() }), signals: { go: z.void() } },
      async (ctx, { round }): Promise<string> => {
        const { card } = await ctx.step('load', () => ({ card: 'visa', cents: 45 }))
        await ctx.checkpoint('loaded')
        await ctx.step('check', () => checks.until)
        await ctx.receive('go')
        return round < 2 ? ctx.continueAs({ round: round + 1 }) : card
      },
    )
    const { store, next } = meddleWith(place.store)
    const engine = await createEngine({ store, logger: silent, procedures: [order] })
    onTestFinished(async () => {
      await engine.stop()
      await place.remove()
    })
    const run = await engine.run(order, { round: 1 }, { id: 'r' })
    const saved = await waitForCheckpoint(engine, run.id)
    return { engine, order, next, saved, checks }
  }

  const edit = { 0: { card: 'amex', cents: 7 } }

  test('the same call finds the fork, whoever asks', async () => {
    const { engine, saved } = await setUp()
    const calls: readonly (readonly [ForkPoint, ForkChanges])[] = [
      [{ position: 2 }, { id: 'plain' }],
      [{ position: 2 }, { id: 'edited', edit }],
      [{ checkpoint: saved }, { id: 'saved' }],
    ]
    for (const [from, changes] of calls) {
      const made = await engine.fork('r', from, changes)
      const again = await engine.fork('r', from, { ...changes, by: 'user:bob' })
      expect(again.id).toBe(made.id)
      expect((await again.status()).startedBy).toBeUndefined()
    }
    const other = { cents: 7, card: 'amex' }
    expect((await engine.fork('r', { position: 2 }, { id: 'edited', edit: { 0: other } })).id).toBe('edited')
    expect((await engine.list({ procedure: 'order' })).items).toHaveLength(4)
  })

  test('another call is refused, and the refusal names what differs', async () => {
    const { engine, saved } = await setUp()
    await engine.fork('r', { position: 2 }, { id: 'f', edit })
    await engine.fork('r', { checkpoint: saved }, { id: 's' })
    const refused: readonly (readonly [string, ForkPoint, ForkChanges, string])[] = [
      ['r', { position: 2 }, { id: 'f' }, 'as a fork of run r at position 2, with other edits'],
      ['r', { position: 2 }, { id: 'f', edit: { 0: { card: 'visa' } } }, 'with other edits'],
      ['r', { position: 2 }, { id: 'f', edit: { 1: edit[0] } }, 'with other edits'],
      ['r', { position: 1 }, { id: 'f', edit }, 'as a fork of run r at position 2.'],
      ['r', { checkpoint: saved }, { id: 'f', edit }, 'as a fork of run r at position 2.'],
      ['r', { position: 1 }, { id: 's' }, `as a fork of run r from checkpoint ${saved}.`],
      ['f', { position: 2 }, { id: 's' }, 'as a fork of run r'],
      ['f', { position: 2 }, { id: 'r' }, 'which is no fork'],
    ]
    for (const [original, from, changes, words] of refused) {
      const refusal = await engine.fork(original, from, changes).catch((error: unknown) => error)
      if (!PawlError.is(refusal, 'id-taken')) throw refusal
      expect(refusal.details).toEqual({ id: changes.id })
      expect(refusal.message).toContain(words)
    }
    expect((await engine.list({ procedure: 'order' })).items).toHaveLength(3)
  })

  test('the fork is found once its original has ended, and its checkpoint and the original are gone', async () => {
    const { engine, order, saved } = await setUp()
    const again = () => Promise.all([fork({ position: 2 }, 'f'), fork({ checkpoint: saved }, 's')])
    const fork = async (from: ForkPoint, id: string) => (await engine.fork('r', from, { id })).id
    expect(await again()).toEqual(['f', 's'])
    await engine.checkpoints.delete('r')
    expect(await again()).toEqual(['f', 's'])
    const run = engine.get(order, 'r')
    await run.signal('go')
    await run.signal('go')
    await run.result()
    expect(await again()).toEqual(['f', 's'])
    await engine.delete('r')
    expect(await again()).toEqual(['f', 's'])
  })

  test('the fork is found in its later generations, and has its origin there', async () => {
    const { engine, order, checks } = await setUp()
    const fork = engine.get(order, (await engine.fork('r', { position: 2 }, { id: 'f', edit })).id)
    await waitForCheckpoint(engine, 'f')
    let release = (): void => {}
    checks.until = new Promise((resolve) => {
      release = resolve
    })
    await fork.signal('go')
    while ((await fork.status()).generation === 1) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await fork.status()).toMatchObject({ forkedFrom: { run: 'r', position: 2 } })
    release()
    await fork.signal('go')
    expect(await fork.result()).toBe('visa')
    expect(await fork.status()).toMatchObject({ generation: 2, forkedFrom: { run: 'r', position: 2 } })
    expect((await engine.fork('r', { position: 2 }, { id: 'f', edit })).id).toBe('f')
    await expect(engine.fork('r', { position: 2 }, { id: 'f' })).rejects.toThrow('with other edits')
    // It is another run from then on.
    await (await engine.runOrGet(order, { round: 2 }, { id: 'f', ifEnded: 'again' })).signal('go')
    await expect(engine.fork('r', { position: 2 }, { id: 'f', edit })).rejects.toThrow('which is no fork')
  })

  test('of two calls at once, the second finds the fork of the first, or is refused', async () => {
    const { engine, next } = await setUp()
    const fork = (changes: ForkChanges) => engine.fork('r', { position: 2 }, changes)
    // The other call makes its fork between the look for it and the write.
    next('copies.install', async (go) => {
      await fork({ id: 'f' })
      return go()
    })
    expect((await fork({ id: 'f' })).id).toBe('f')
    next('copies.install', async (go) => {
      await fork({ id: 'g', edit })
      return go()
    })
    await expect(fork({ id: 'g' })).rejects.toMatchObject({ code: 'id-taken' })
    expect((await engine.list({ procedure: 'order' })).items).toHaveLength(3)
  })

  test('a value that is changed behind the call has no effect', async () => {
    const { engine, order } = await setUp()
    const changed = { card: 'amex', cents: 7 }
    const forking = engine.fork('r', { position: 2 }, { id: 'f', edit: { 0: changed } })
    changed.card = 'visa'
    const fork = engine.get(order, (await forking).id)
    expect((await engine.log('f')).execution_log[0]?.result).toEqual({ card: 'amex', cents: 7 })
    expect((await engine.fork('r', { position: 2 }, { id: fork.id, edit })).id).toBe('f')
  })
})

/** Waits until the run waits for its signal. */
async function waitForCheckpoint(engine: Engine, run: string): Promise<string> {
  const status = engine.get(run)
  while ((await status.status()).status !== 'waiting') await new Promise((resolve) => setTimeout(resolve, 5))
  return (await engine.checkpoints.latest(run))?.id ?? ''
}
