import { createClient, procedure } from '@pawl/core'
import type { Unit } from '@pawl/core/storage'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startBareEngine } from '../support/bare-engine.ts'
import { meddleWith } from '../support/meddling-store.ts'
import { makePlaces } from '../support/test-store.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const signals = { a: z.string(), b: z.string() }

const asking = procedure({ name: 'asking', signals }, async (ctx) => {
  const first = await ctx.race({
    asked: ctx.human.approve('Refund?', { to: 'role:finance', key: 'refund' }),
    a: ctx.receive('a'),
    late: ctx.sleep('1h'),
  })
  await ctx.receive('b')
  return first.winner
})
const both = (name: string, isRace: boolean) =>
  procedure({ name, signals }, async (ctx) => {
    await ctx.step('begin', () => {})
    const [a, b] = [ctx.receive('a'), ctx.receive('b')]
    const winner = isRace
      ? (await ctx.race({ a, b })).winner
      : await Promise.race([a.then(() => 'a' as const), b.then(() => 'b' as const)])
    // What the loser has taken is lost to this one.
    return [winner, await ctx.receive(winner === 'a' ? 'b' : 'a', { timeout: '20ms' })]
  })
const racing = both('racing', true)
const leaving = both('leaving', false)

describe('a race', () => {
  const makePlace = makePlaces()
  const rounds = Number(process.env['ROUNDS'] ?? 20)
  /** `onUnit` is called when a unit has been committed. */
  async function setUp(onUnit: (unit: Unit) => Promise<void> = async () => {}) {
    const place = await makePlace()
    const { store, always } = meddleWith(place.store)
    always('log.commit', async (go, [, units]) => {
      const outcome = await go()
      for (const unit of units as readonly Unit[]) await onUnit(unit)
      return outcome
    })
    const { client, stop } = await startBareEngine({
      ...{ store, procedures: [asking, racing, leaving], logger: silent },
      keep: { runs: 10, bytes: 1_000_000 },
    })
    // Reads past the engine that writes.
    const reader = createClient({ store: place.store })
    onTestFinished(async () => {
      await stop()
      await reader.stop()
      await place.remove()
    })
    return { client, reader }
  }

  test('the ask of a loser leaves the inbox in the unit that withdraws it, once', async () => {
    const seen: string[] = []
    let isOpen = async (): Promise<number> => 0
    const { client, reader } = await setUp(async ({ events, effects }) => {
      const types = events.map(({ type, kind }) => `${type} ${kind}`)
      const closed = effects.filter((effect) => effect.do === 'close-ask').length
      if (events.length > 0) seen.push(`${types.join(', ')}: ${closed} closed, ${await isOpen()} open`)
    })
    const run = await client.run(asking)
    isOpen = async () => (await reader.inbox.list({ run: run.id })).items.length
    const { id } = await client.inbox.next({ run: run.id })
    await run.signal('a', 'quick')
    const withdrawals = () => seen.filter((line) => line.includes('withdrawn'))
    // The run is parked before its unit is seen: the next signal would overtake that.
    await expect.poll(withdrawals).toHaveLength(1)
    await run.signal('b', 'last')
    expect(await run.result()).toBe('a')
    expect(withdrawals()).toEqual(['withdrawn hitl_approval: 1 closed, 0 open'])
    expect((await reader.inbox.get(id))?.status).toBe('withdrawn')
    await expect(client.inbox.answer(id, { approved: true }, { as: 'user:ana' })).rejects.toMatchObject({
      code: 'ask-closed',
    })
  })

  test.each([
    { what: 'a race leaves it', procedure: racing, isKept: true },
    { what: 'the control, Promise.race, loses it', procedure: leaving, isKept: false },
  ])(
    'of two signals in one instant, the next receive gets the second: $what',
    async ({ procedure, isKept }) => {
      let most = 0
      const { client } = await setUp(async ({ events }) => {
        most = Math.max(
          most,
          events.filter(({ type, kind }) => type === 'settled' && kind === 'signal').length,
        )
      })
      for (let round = 0; round < rounds; round++) {
        const run = await client.run(procedure)
        const { id } = run
        const send = (name: 'a' | 'b') => client.get(racing, id).signal(name, `of ${name}`)
        await Promise.all(round % 2 === 0 ? [send('a'), send('b')] : [send('b'), send('a')])
        const [winner, next] = await run.result()
        expect(next).toBe(isKept ? `of ${winner === 'a' ? 'b' : 'a'}` : null)
      }
      expect(most).toBe(isKept ? 1 : 2)
    },
  )
})
