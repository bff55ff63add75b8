import { type NewEvent, operationKinds } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { bytes, hex, link, settled, signal, text, unitFor } from '../builders.ts'
import type { StageTest } from '../stage.ts'

export function describeCommit(test: StageTest): void {
  describe('commit', () => {
    test('a unit is written, and its outcome has what the worker needs', async (stage) => {
      const before = await stage.port.now()
      const standing = await stage.owned('a', await stage.worker())
      const outcome = await stage.commit(standing)
      expect(outcome).toEqual({ outcome: 'ok', at: expect.any(Number), epoch: 1, mail: 0, parked: false })
      const at = outcome.outcome === 'ok' ? outcome.at : 0
      expect(at).toBeGreaterThanOrEqual(before)
      expect(at).toBeLessThanOrEqual(await stage.port.now())
      expect(await stage.port.log.load(standing.run, 1, 10)).toMatchObject([{ seq: 1, at, epoch: 1 }])
    })

    test('several events get the next seqs, in order, and one time', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { events: [settled(0), settled(1), settled(2)] })
      await stage.commit(standing, { events: [settled(3)] })
      const log = await stage.port.log.load(standing.run, 0, 10)
      expect(log.map(({ seq, position }) => [seq, position])).toEqual([
        [0, -1],
        [1, 0],
        [2, 1],
        [3, 2],
        [4, 3],
      ])
      expect(new Set(log.slice(1, 4).map(({ at }) => at)).size).toBe(1)
    })

    test('every field of an event comes back as it was', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      const types = ['asked', 'attempted', 'settled', 'withdrawn', 'cancelled', 'ended'] as const
      const events: NewEvent[] = [
        ...types.map((type, index) =>
          settled(index, { type, turn: 7 * index, nth: index, failed: index % 2 === 0 }),
        ),
        ...operationKinds.map((kind, index) =>
          settled(100 + index, { kind, tookMs: index === 0 ? null : index * 1000 }),
        ),
        settled(4_000_000, {
          turn: 2_000_000_000,
          nth: 70_000,
          tookMs: 2_000_000_000,
          name: '',
          payload: null,
        }),
        settled(1, { kind: null, name: 'ünï ☕️ \' " \\ %', payload: new Uint8Array(0) }),
      ]
      await stage.commit(standing, { events })
      const log = await stage.port.log.load(standing.run, 1, 100)
      const shown = log.map(({ seq, at, epoch, link, payload, ...event }) => ({
        ...event,
        payload: payload && [...payload],
      }))
      expect(shown).toEqual(
        events.map((event) => ({ ...event, payload: event.payload && [...event.payload] })),
      )
    })

    test('a seal belongs to its event', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      const events = [settled(0), settled(1), settled(2)]
      await stage.commit(standing, { events, seals: [null, link(9), null] })
      const log = await stage.port.log.load(standing.run, 0, 10)
      expect(log.map((event) => event.link && [...event.link])).toEqual([null, null, [...link(9)], null])
    })

    test('a unit without events leaves head and hash as they were', async (stage) => {
      const claimant = await stage.claimant()
      const standing = await stage.owned('a', claimant.worker)
      await stage.commit(standing, { link: link(77) })
      const nothing = { events: [], next: { do: 'park', wakeAt: 5 } } as const
      expect(await stage.commit(standing, nothing)).toMatchObject({ outcome: 'ok', parked: true })
      const { runs } = await stage.port.claims.claim(claimant, 1)
      expect(runs.map((run) => [run.head, hex(run.link)])).toEqual([[2, hex(link(77))]])
    })

    test('units of many runs get their outcomes in the order they were given', async (stage) => {
      const worker = await stage.worker()
      const [a, b, c] = [
        await stage.owned('a', worker),
        await stage.owned('b', worker),
        await stage.owned('c', worker),
      ]
      await stage.port.mail.send([signal('b')], null)
      const outcomes = await stage.port.log.commit(worker, [
        unitFor(c),
        unitFor(b),
        unitFor({ ...a, epoch: 9 }),
      ])
      expect(outcomes).toMatchObject([
        { outcome: 'ok', mail: 0 },
        { outcome: 'ok', mail: 1 },
        { outcome: 'fenced' },
      ])
    })

    test('each of many units gets its own time, mail and parking', async (stage) => {
      const worker = await stage.worker()
      const next = { do: 'park', wakeAt: null } as const
      const [a, b, c, d] = [
        await stage.owned('a', worker),
        await stage.owned('b', worker),
        await stage.owned('c', worker),
        await stage.owned('d', worker),
      ]
      for (const id of ['b', 'c', 'd', 'd']) await stage.port.mail.send([signal(id)], null)
      const outcomes = await stage.port.log.commit(worker, [
        unitFor(a, { next }),
        unitFor(b, { seen: 1, next }),
        unitFor(c, { seen: 0, next }),
        unitFor(d, { seen: 2 }),
      ])
      expect(outcomes).toMatchObject([
        { outcome: 'ok', mail: 0, parked: true },
        { outcome: 'ok', mail: 1, parked: true },
        { outcome: 'ok', mail: 1, parked: false },
        { outcome: 'ok', mail: 2, parked: false },
      ])
      const logs = await Promise.all([a, b, c, d].map(({ run }) => stage.port.log.load(run, 1, 1)))
      expect(logs.map(([event]) => ({ at: event?.at }))).toMatchObject(
        outcomes.map((one) => ({ at: 'at' in one && one.at })),
      )
    })

    test('a refused unit leaves nothing and harms no neighbour', async (stage) => {
      const worker = await stage.worker()
      const runs = []
      for (const id of ['a', 'b', 'c', 'd', 'e']) runs.push(await stage.owned(id, worker))
      await stage.port.mail.send([signal('d')], null)
      const outcomes = await stage.port.log.commit(
        worker,
        runs.map((standing, index) =>
          unitFor(standing, {
            epoch: index === 1 ? 7 : 1,
            head: index === 2 ? 5 : 1,
            strict: true,
            info: bytes('shown'),
            next: { do: 'end', state: 'completed' },
          }),
        ),
      )
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['ok', 'fenced', 'conflict', 'mail', 'ok'])
      const rows = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => stage.find(id)))
      expect(rows.map(({ state, head, info }) => [state, head, text(info)])).toEqual([
        ['completed', 2, 'shown'],
        ['live', 1, null],
        ['live', 1, null],
        ['live', 1, null],
        ['completed', 2, 'shown'],
      ])
    })

    test('two calls at once for different runs are both written', async (stage) => {
      const worker = await stage.worker()
      const [a, b] = [await stage.owned('a', worker), await stage.owned('b', worker)]
      const outcomes = await Promise.all([stage.commit(a), stage.commit(b)])
      expect(outcomes).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }])
    })

    test('a thousand units go in one call', async (stage) => {
      const worker = await stage.worker()
      const ids = Array.from({ length: 1000 }, (_, index) => `run ${index}`)
      const standings = []
      for (const id of ids) standings.push(await stage.owned(id, worker))
      const outcomes = await stage.port.log.commit(
        worker,
        standings.map((standing) => unitFor(standing)),
      )
      expect(outcomes.filter(({ outcome }) => outcome === 'ok')).toHaveLength(1000)
    })

    test('an empty commit writes nothing', async (stage) => {
      expect(await stage.port.log.commit(await stage.worker(), [])).toEqual([])
    })

    test('a head behind the log is a conflict', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing)
      expect(await stage.commit(standing, { head: 1 })).toEqual({ outcome: 'conflict' })
      expect(await stage.commit(standing)).toMatchObject({ outcome: 'ok' })
    })

    test('a head beyond the log is a conflict', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      expect(await stage.commit(standing, { head: 2 })).toEqual({ outcome: 'conflict' })
      expect(await stage.commit(standing)).toMatchObject({ outcome: 'ok' })
    })

    test('the view of a run is replaced, or left unchanged', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { info: bytes('first') })
      await stage.commit(standing)
      expect(text((await stage.find('a')).info)).toBe('first')
      await stage.commit(standing, { info: bytes('second'), next: { do: 'end', state: 'failed' } })
      expect(text((await stage.find('a')).info)).toBe('second')
    })

    test('the view of a run stays when it ends without a new one', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { info: bytes('shown') })
      await stage.commit(standing, { next: { do: 'end', state: 'completed' } })
      expect(text((await stage.find('a')).info)).toBe('shown')
    })

    for (const state of ['completed', 'failed', 'cancelled'] as const) {
      test(`a run that ends as ${state} has no owner and is never due`, async (stage) => {
        const claimant = await stage.claimant()
        const standing = await stage.owned('a', claimant.worker)
        const outcome = await stage.commit(standing, { next: { do: 'end', state } })
        expect(outcome).toMatchObject({ outcome: 'ok', parked: false })
        const at = outcome.outcome === 'ok' ? outcome.at : 0
        expect(await stage.find('a')).toMatchObject({
          state,
          owned: false,
          wakeAt: null,
          endedAt: at,
          head: 2,
        })
        expect((await stage.port.claims.claim(claimant, 10)).runs).toEqual([])
        expect(await stage.port.mail.counters(claimant.worker)).toEqual([])
      })
    }

    test('an ended run takes no more events', async (stage) => {
      const standing = await stage.ended('a', await stage.worker())
      expect(await stage.commit(standing)).toEqual({ outcome: 'fenced' })
    })
  })
}
