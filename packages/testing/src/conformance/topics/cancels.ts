import { type Claimant, cancelKey, type RunKey } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { bytes, later, newAsk, newRun, type Standing, signal, text } from '../builders.ts'
import { comparable, messageOf } from '../messages.ts'
import type { Stage, StageTest } from '../stage.ts'

const limit = 10

export function describeCancels(test: StageTest): void {
  describe('cancel', () => {
    test('a request is a message of the run, and the run stores its time', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a')], null)
      const outcome = await stage.port.mail.cancel({ run: 'a', payload: bytes('why') }, null)
      const [, message] = await stage.port.mail.list(run, 0)
      expect(outcome).toMatchObject({ outcome: 'stored', run, claimed: null })
      expect(messageOf(outcome)).toEqual(message && comparable(message))
      expect(message).toMatchObject({ n: 2, kind: 'cancel', name: '' })
      expect(text(message?.payload)).toBe('why')
      expect(await stage.find('a')).toMatchObject({
        owned: true,
        wakeAt: null,
        cancelAt: message?.at,
        mail: 2,
      })
      expect((await stage.dump()).messages[1]).toMatchObject({ key: cancelKey })
    })

    test('a request that its owner had not seen keeps the run due when it is marked stuck', async (stage) => {
      const claimant = await stage.claimant()
      const { run } = await stage.owned('a', claimant.worker)
      await stage.port.mail.cancel({ run: 'a', payload: null }, null)
      const by = [claimant.worker, run, 1, 'stuck', bytes('why'), undefined] as const
      expect(await stage.port.runs.mark(...by, 0)).toBe(true)
      expect(await stage.find('a')).toMatchObject({ owned: false, mark: 'stuck', wakeAt: expect.any(Number) })
      expect((await stage.port.claims.claim(claimant, limit)).runs).toMatchObject([
        { run, mark: 'stuck', mail: 1 },
      ])
    })

    test('a run whose owner had seen all messages is not due when it is marked', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.cancel({ run: 'a', payload: null }, null)
      await stage.port.runs.mark(standing.worker, standing.run, 1, 'stuck', bytes('why'), undefined, 1)
      expect(await stage.find('a')).toMatchObject({ mark: 'stuck', wakeAt: null })
    })

    test('a quarantined run is not due, whatever its owner had seen', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.cancel({ run: 'a', payload: null }, null)
      await stage.port.runs.mark(standing.worker, standing.run, 1, 'quarantined', bytes('why'), 'damage', 0)
      expect(await stage.find('a')).toMatchObject({ mark: 'quarantined', wakeAt: null })
    })

    test('a run without a request says so', async (stage) => {
      await stage.owned('a', await stage.worker())
      expect(await stage.find('a')).toMatchObject({ cancelAt: null })
    })

    test('a second request is a duplicate, and the first stands', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      await stage.port.mail.cancel({ run: 'a', payload: bytes('first') }, null)
      const { cancelAt } = await stage.find('a')
      const again = await stage.port.mail.cancel({ run: 'a', payload: bytes('second') }, null)
      expect(again).toEqual({ outcome: 'duplicate', run, message: null, claimed: null })
      expect((await stage.port.mail.list(run, 0)).map(({ payload }) => text(payload))).toEqual(['first'])
      expect(await stage.find('a')).toMatchObject({ cancelAt, mail: 1 })
    })

    test('of many requests at once one is stored', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      const other = await stage.connect()
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          (index % 2 === 0 ? stage.port : other).mail.cancel({ run: 'a', payload: null }, null),
        ),
      )
      expect(outcomes.filter(({ outcome }) => outcome === 'stored')).toHaveLength(1)
      expect(outcomes.filter(({ outcome }) => outcome === 'duplicate')).toHaveLength(11)
      expect(await stage.port.mail.list(run, 0)).toHaveLength(1)
    })

    test('a request for a run that is not there is missing', async (stage) => {
      expect(await stage.port.mail.cancel({ run: 'nowhere', payload: null }, null)).toEqual({
        outcome: 'missing',
      })
    })

    for (const state of ['completed', 'failed', 'cancelled'] as const) {
      test(`a run that has ended as ${state} takes no request`, async (stage) => {
        await stage.ended('a', await stage.worker(), state)
        expect(await stage.port.mail.cancel({ run: 'a', payload: null }, null)).toEqual({
          outcome: 'ended',
          state,
        })
        expect(await stage.find('a')).toMatchObject({ mail: 0, cancelAt: null })
      })
    }

    test('a quarantined run takes no request', async (stage) => {
      await mark(stage, 'quarantined', await stage.claimant())
      expect(await stage.port.mail.cancel({ run: 'a', payload: null }, null)).toEqual({
        outcome: 'quarantined',
      })
      expect(await stage.find('a')).toMatchObject({ mail: 0, cancelAt: null, wakeAt: null })
    })

    test('a parked run becomes due, before its time', async (stage) => {
      const claimant = await stage.claimant()
      await stage.parked('a', claimant.worker, { next: { do: 'park', wakeAt: later } })
      await stage.port.mail.cancel({ run: 'a', payload: null }, null)
      const { runs } = await stage.port.claims.claim(claimant, limit)
      expect(runs).toMatchObject([{ id: 'a', mail: 1 }])
    })

    test('a stuck run becomes due, and stays stuck', async (stage) => {
      const claimant = await stage.claimant()
      await mark(stage, 'stuck', claimant)
      await stage.port.mail.cancel({ run: 'a', payload: null }, null)
      expect(await stage.find('a')).toMatchObject({ mark: 'stuck', owned: false })
      expect((await stage.port.claims.claim(claimant, limit)).runs).toMatchObject([
        { id: 'a', mark: 'stuck' },
      ])
    })

    for (const how of ['parked', 'stuck'] as const)
      test(`a ${how} run is claimed by the process that cancels it`, async (stage) => {
        const claimant = await stage.claimant()
        if (how === 'parked') await stage.parked('a', claimant.worker)
        else await mark(stage, 'stuck', claimant)
        const outcome = await stage.port.mail.cancel({ run: 'a', payload: bytes('why') }, claimant)
        expect(outcome).toMatchObject({ outcome: 'stored', claimed: { id: 'a', mail: 1 } })
        expect(await stage.find('a')).toMatchObject({ owned: true, wakeAt: null })
      })

    test('a unit that ends a run and has not seen the request is refused', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.cancel({ run: 'a', payload: null }, null)
      const ends = { strict: true, next: { do: 'end', state: 'completed' } } as const
      expect(await stage.commit(standing, ends)).toEqual({ outcome: 'mail', mail: 1 })
    })

    test('a run ends as cancelled, with its asks withdrawn and the request used', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(1)] })
      await stage.port.mail.cancel({ run: 'a', payload: bytes('why') }, null)
      standing.seen = 1
      const closes = [{ position: 1, status: 'withdrawn' }] as const
      const ends = { strict: true, next: { do: 'end', state: 'cancelled' } } as const
      expect(await stage.commit(standing, { ...ends, closes, consumes: [1] })).toMatchObject({
        outcome: 'ok',
      })
      expect(await stage.find('a')).toMatchObject({ state: 'cancelled', owned: false, wakeAt: null })
      expect(await stage.port.asks.find('a', 1)).toMatchObject({ status: 'withdrawn' })
      expect(await stage.port.mail.list(standing.run, 0)).toEqual([])
    })
  })

  describe('cancelled runs without their code', () => {
    test('cancelled runs that are due are listed, the oldest request first', async (stage) => {
      const { worker } = await stage.claimant()
      const [one, two] = await createUnowned(stage, ['one', 'two', 'three'])
      await stage.owned('owned', worker)
      for (const run of ['two', 'owned']) await stage.port.mail.cancel({ run, payload: null }, null)
      await stage.passed((await stage.find('two')).cancelAt ?? 0)
      await stage.port.mail.cancel({ run: 'one', payload: null }, null)
      expect(await stage.port.claims.cancelled(0, limit)).toEqual([
        { run: two, procedure: 'refund', version: 1 },
        { run: one, procedure: 'refund', version: 1 },
      ])
      expect(await stage.port.claims.cancelled(0, 1)).toMatchObject([{ run: two }])
      expect(await stage.port.claims.cancelled(3_600_000, limit)).toEqual([])
    })

    test('one is claimed by a worker without its code', async (stage) => {
      const [run = 0, other = 0] = await createUnowned(stage, ['a', 'b'])
      const worker = await stage.worker()
      await stage.port.mail.cancel({ run: 'a', payload: bytes('why') }, null)
      expect(await stage.port.claims.takeCancelled(worker, [run, other, 4711])).toMatchObject([
        { run, id: 'a', procedure: 'refund', version: 1, epoch: 2, head: 1, mail: 1 },
      ])
      expect(await stage.find('a')).toMatchObject({ owned: true, wakeAt: null })
      expect(await stage.find('b')).toMatchObject({ owned: false })
      expect(await stage.port.claims.takeCancelled(await stage.worker(), [run])).toEqual([])
    })

    test('one without a version stays without one', async (stage) => {
      const [run = 0] = await createUnowned(stage, ['a'], null)
      await stage.port.mail.cancel({ run: 'a', payload: null }, null)
      expect(await stage.port.claims.cancelled(0, limit)).toEqual([
        { run, procedure: 'refund', version: null },
      ])
      expect(await stage.port.claims.takeCancelled(await stage.worker(), [run])).toMatchObject([
        { version: 0 },
      ])
      expect(await stage.find('a')).toMatchObject({ version: null, owned: true })
    })

    test('a dead worker gets none', async (stage) => {
      const [run = 0] = await createUnowned(stage, ['a'])
      const dead = await stage.doomedWorker()
      await stage.port.workers.sweep()
      await stage.port.mail.cancel({ run: 'a', payload: null }, null)
      expect(await stage.port.claims.takeCancelled(dead, [run])).toEqual([])
    })

    test('one that has ended is not listed', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.cancel({ run: 'a', payload: null }, null)
      standing.seen = 1
      await stage.commit(standing, { strict: true, consumes: [1], next: { do: 'end', state: 'cancelled' } })
      expect(await stage.port.claims.cancelled(0, limit)).toEqual([])
      expect(await stage.port.claims.takeCancelled(standing.worker, [standing.run])).toEqual([])
    })
  })
}

async function mark(stage: Stage, mark: 'stuck' | 'quarantined', { worker }: Claimant): Promise<Standing> {
  const standing = await stage.owned('a', worker)
  await stage.port.runs.mark(worker, standing.run, 1, mark, bytes('broken'))
  return standing
}

async function createUnowned(
  stage: Stage,
  ids: readonly string[],
  version: number | null = 1,
): Promise<readonly RunKey[]> {
  const created = await stage.port.runs.create(ids.map((id) => newRun(id, { version })))
  return created.map(({ run }) => run)
}
