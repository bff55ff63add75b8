import { describe, expect } from 'vitest'
import { hex, later, link, longAgo, settled, signal } from '../builders.ts'
import type { StageTest } from '../stage.ts'

const park = { do: 'park', wakeAt: null } as const

export function describeParking(test: StageTest): void {
  describe('parking', () => {
    test('a parked run has no owner and is not due', async (stage) => {
      const claimant = await stage.claimant()
      const standing = await stage.owned('a', claimant.worker)
      expect(await stage.commit(standing, { next: park })).toMatchObject({
        outcome: 'ok',
        parked: true,
        mail: 0,
      })
      expect(await stage.find('a')).toMatchObject({ owned: false, wakeAt: null, state: 'live', head: 2 })
      expect(await stage.port.claims.claim(claimant, 10)).toMatchObject({ runs: [], nextDueAt: null })
    })

    test('a parked run with a deadline is due at the deadline', async (stage) => {
      const claimant = await stage.claimant()
      const standing = await stage.owned('a', claimant.worker)
      const wakeAt = (await stage.port.now()) + 60
      await stage.commit(standing, { next: { do: 'park', wakeAt } })
      expect(await stage.find('a')).toMatchObject({ wakeAt })
      let claims = await stage.port.claims.claim(claimant, 10)
      while (claims.runs.length === 0) {
        expect(claims.nextDueAt).toBe(wakeAt)
        claims = await stage.port.claims.claim(claimant, 10)
      }
      expect(claims.at).toBeGreaterThanOrEqual(wakeAt)
    })

    test('a deadline in the past makes the run due at once', async (stage) => {
      const claimant = await stage.claimant()
      await stage.parked('a', claimant.worker, { next: { do: 'park', wakeAt: longAgo } })
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([{ id: 'a', epoch: 2 }])
    })

    test('a deadline beyond 2^31 ms is not due', async (stage) => {
      const claimant = await stage.claimant()
      await stage.parked('a', claimant.worker, { next: { do: 'park', wakeAt: later } })
      expect(await stage.port.claims.claim(claimant, 10)).toMatchObject({ runs: [], nextDueAt: later })
    })

    test('a new message keeps the run with its owner, and the events are written', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a')], null)
      expect(await stage.commit(standing, { next: park })).toMatchObject({
        outcome: 'ok',
        parked: false,
        mail: 1,
      })
      expect(await stage.find('a')).toMatchObject({ owned: true, wakeAt: null, head: 2 })
    })

    test('a run whose messages are all seen can be parked', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a')], null)
      standing.seen = 1
      expect(await stage.commit(standing, { next: park, consumes: [1] })).toMatchObject({
        parked: true,
        mail: 1,
      })
    })

    test('a park that was refused for mail can be retried without events', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a')], null)
      await stage.commit(standing, { next: park })
      standing.seen = 1
      expect(await stage.commit(standing, { next: park, events: [] })).toMatchObject({
        outcome: 'ok',
        parked: true,
      })
    })

    test('a message for a parked run makes it due', async (stage) => {
      const claimant = await stage.claimant()
      await stage.parked('a', claimant.worker)
      await stage.port.mail.send([signal('a')], null)
      expect((await stage.find('a')).wakeAt).toBeLessThanOrEqual(await stage.port.now())
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([
        { id: 'a', mail: 1, epoch: 2 },
      ])
    })

    test('a message moves a deadline to now', async (stage) => {
      const claimant = await stage.claimant()
      await stage.parked('a', claimant.worker, { next: { do: 'park', wakeAt: later } })
      await stage.port.mail.send([signal('a')], null)
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([{ id: 'a', mail: 1 }])
    })

    test('a message does not delay a run that is due', async (stage) => {
      await stage.parked('a', await stage.worker(), { next: { do: 'park', wakeAt: longAgo } })
      await stage.port.mail.send([signal('a')], null)
      expect(await stage.find('a')).toMatchObject({ wakeAt: longAgo, mail: 1 })
    })

    test('a message for an owned run does not make it due; its owner finds it in the counters', async (stage) => {
      const worker = await stage.worker()
      const [a, b] = [await stage.owned('a', worker), await stage.owned('b', worker)]
      await stage.port.mail.send([signal('a'), signal('a')], null)
      expect(await stage.find('a')).toMatchObject({ owned: true, wakeAt: null, mail: 2 })
      const counters = [...(await stage.port.mail.counters(worker))].sort((one, other) => one.run - other.run)
      expect(counters).toEqual([
        { run: a.run, mail: 2 },
        { run: b.run, mail: 0 },
      ])
    })

    test('the counters of a worker are those of the runs it owns', async (stage) => {
      const worker = await stage.worker()
      await stage.parked('a', worker)
      await stage.ended('b', worker)
      const other = await stage.owned('c', await stage.worker())
      expect(await stage.port.mail.counters(worker)).toEqual([])
      expect(await stage.port.mail.counters(other.worker)).toEqual([{ run: other.run, mail: 0 }])
      expect(await stage.port.mail.counters(4711)).toEqual([])
    })

    test('a strict unit that has seen all mail is written', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a')], null)
      standing.seen = 1
      expect(await stage.commit(standing, { strict: true })).toMatchObject({ outcome: 'ok', mail: 1 })
    })

    for (const next of [{ do: 'keep' }, park, { do: 'end', state: 'completed' }] as const) {
      test(`a strict unit that meets unseen mail writes nothing (${next.do})`, async (stage) => {
        const standing = await stage.owned('a', await stage.worker())
        await stage.port.mail.send([signal('a'), signal('a')], null)
        expect(await stage.commit(standing, { strict: true, next, link: link(99) })).toEqual({
          outcome: 'mail',
          mail: 2,
        })
        expect(await stage.find('a')).toMatchObject({ head: 1, owned: true, state: 'live' })
        expect((await stage.dump()).runs.map((run) => hex(run.link))).toEqual([hex(link(1))])
      })
    }

    test('a unit that is not strict ends a run whatever its mail', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a')], null)
      expect(await stage.commit(standing, { next: { do: 'end', state: 'completed' } })).toMatchObject({
        outcome: 'ok',
      })
    })

    test('a stale strict unit is fenced before its mail is checked', async (stage) => {
      const standing = await stage.owned('a', await stage.doomedWorker())
      await stage.port.workers.sweep()
      await stage.port.mail.send([signal('a')], null)
      expect(await stage.commit(standing, { strict: true })).toEqual({ outcome: 'fenced' })
    })

    test('a run is parked and woken many times', async (stage) => {
      const claimant = await stage.claimant()
      const standing = await stage.parked('a', claimant.worker)
      for (let round = 1; round <= 20; round++) {
        await stage.port.mail.send([signal('a')], null)
        const [claimed] = (await stage.port.claims.claim(claimant, 1)).runs
        expect(claimed).toMatchObject({ epoch: round + 1, mail: round, head: round + 1 })
        Object.assign(standing, { epoch: claimed?.epoch, seen: claimed?.mail })
        const unit = { next: park, consumes: [round], events: [settled(round)] }
        expect(await stage.commit(standing, unit)).toMatchObject({ outcome: 'ok', parked: true })
      }
    })
  })
}
