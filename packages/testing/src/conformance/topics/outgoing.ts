import { cancelKey } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { bytes, childRun, hex, later, link, outgoing, settled, signal, text, unitFor } from '../builders.ts'
import type { StageTest } from '../stage.ts'

/** Messages and cancels that units send to other runs. */
export function describeOutgoing(test: StageTest): void {
  describe('units that send to other runs', () => {
    test('a message is stored with the unit, and wakes a run that waits', async (stage) => {
      const worker = await stage.worker()
      const target = await stage.parked('target', worker)
      const sender = await stage.owned('sender', worker)
      const sends = [outgoing('target', { name: 'one' }), outgoing('target', { name: 'two', key: 'k' })]
      const outcome = await stage.commit(sender, { sends })
      const at = outcome.outcome === 'ok' ? outcome.at : 0
      expect(await stage.find('target')).toMatchObject({ owned: false, wakeAt: at, mail: 2, cancelAt: null })
      expect(await stage.find('sender')).toMatchObject({ owned: true, mail: 0, head: 2 })
      expect(await stage.port.mail.list(target.run, 0)).toMatchObject([
        { n: 1, at, kind: 'signal', name: 'one' },
        { n: 2, at, kind: 'signal', name: 'two' },
      ])
    })

    test('a message of each kind comes as it was sent', async (stage) => {
      const worker = await stage.worker()
      const target = await stage.owned('target', worker)
      const sender = await stage.owned('sender', worker)
      const kinds = ['signal', 'ended', 'watch'] as const
      await stage.commit(sender, {
        sends: kinds.map((kind, index) =>
          outgoing('target', { kind, name: `${index}`, payload: bytes(kind) }),
        ),
      })
      const mail = await stage.port.mail.list(target.run, 0)
      expect(mail.map(({ n, kind, name, payload }) => [n, kind, name, text(payload)])).toEqual([
        [1, 'signal', '0', 'signal'],
        [2, 'ended', '1', 'ended'],
        [3, 'watch', '2', 'watch'],
      ])
      expect(await stage.find('target')).toMatchObject({ owned: true, wakeAt: null, mail: 3 })
    })

    test('a run does not wake later than it would have, and one that is stuck stays as it is', async (stage) => {
      const worker = await stage.worker()
      await stage.parked('early', worker, { next: { do: 'park', wakeAt: 5 } })
      await stage.parked('late', worker, { next: { do: 'park', wakeAt: later } })
      const stuck = await stage.owned('stuck', worker)
      await stage.port.runs.mark(worker, stuck.run, 1, 'stuck', bytes('why'))
      const sender = await stage.owned('sender', worker)
      const outcome = await stage.commit(sender, {
        sends: ['early', 'late', 'stuck'].map((id) => outgoing(id)),
      })
      const at = outcome.outcome === 'ok' ? outcome.at : 0
      expect(await stage.find('early')).toMatchObject({ wakeAt: 5, mail: 1 })
      expect(await stage.find('late')).toMatchObject({ wakeAt: at, mail: 1 })
      expect(await stage.find('stuck')).toMatchObject({ wakeAt: null, mark: 'stuck', mail: 1, tries: 0 })
    })

    test('two units of a commit send to one run, which gets both in their order', async (stage) => {
      const worker = await stage.worker()
      const target = await stage.parked('target', worker)
      await stage.port.mail.send([signal('target')], null)
      const [a, b] = [await stage.owned('a', worker), await stage.owned('b', worker)]
      await stage.port.log.commit(worker, [
        unitFor(b, { sends: [outgoing('target', { name: 'b' })] }),
        unitFor(a, { sends: [outgoing('target', { name: 'a' }), outgoing('target', { name: 'a2' })] }),
      ])
      const mail = await stage.port.mail.list(target.run, 0)
      expect(mail.map(({ n, name }) => [n, name])).toEqual([
        [1, 'paid'],
        [2, 'b'],
        [3, 'a'],
        [4, 'a2'],
      ])
    })

    test('a key is stored once per run', async (stage) => {
      const worker = await stage.worker()
      const target = await stage.owned('target', worker)
      await stage.port.mail.send([signal('target', { key: 's:1' })], null)
      const sender = await stage.owned('sender', worker)
      const sends = [
        outgoing('target', { key: 's:1' }),
        outgoing('target', { key: 's:2' }),
        outgoing('target', { key: 's:2' }),
      ]
      expect(await stage.commit(sender, { sends })).toMatchObject({ outcome: 'ok' })
      expect((await stage.port.mail.list(target.run, 0)).length).toBe(2)
      await stage.commit(target, { next: { do: 'end', state: 'completed' } })
      expect(await stage.commit(sender, { sends: [outgoing('target', { key: 's:2' })] })).toMatchObject({
        outcome: 'ok',
      })
    })

    test('a message that must arrive refuses its unit if it cannot, and neighbours are written', async (stage) => {
      const worker = await stage.worker()
      await stage.ended('gone', worker, 'failed')
      await stage.owned('there', worker)
      const [a, b, c] = [
        await stage.owned('a', worker),
        await stage.owned('b', worker),
        await stage.owned('c', worker),
      ]
      const outcomes = await stage.port.log.commit(worker, [
        unitFor(a, { sends: [outgoing('there'), outgoing('gone')] }),
        unitFor(b, { consumes: [1], sends: [outgoing('nowhere')], next: { do: 'end', state: 'completed' } }),
        unitFor(c, { sends: [outgoing('there', { name: 'by c' })] }),
      ])
      expect(outcomes).toMatchObject([
        { outcome: 'refused', item: 1, why: 'ended' },
        { outcome: 'refused', item: 1, why: 'missing' },
        { outcome: 'ok' },
      ])
      expect(await stage.find('there')).toMatchObject({ mail: 1 })
      expect(await stage.find('b')).toMatchObject({ state: 'live', owned: true, head: 1 })
    })

    test('other messages pass over runs that cannot get them', async (stage) => {
      const worker = await stage.worker()
      await stage.ended('gone', worker)
      const sender = await stage.owned('sender', worker)
      const sends = ['gone', 'nowhere'].map((id) => outgoing(id, { kind: 'ended', name: '3', must: false }))
      expect(await stage.commit(sender, { sends })).toMatchObject({ outcome: 'ok' })
      expect(await stage.find('gone')).toMatchObject({ mail: 0 })
    })

    test('the end of a run and the message about it are one commit', async (stage) => {
      const claimant = await stage.claimant()
      const parent = await stage.parked('parent', claimant.worker)
      const child = await stage.owned('child', claimant.worker)
      await stage.commit(child, {
        strict: true,
        sends: [outgoing('parent', { kind: 'ended', name: '0', payload: bytes('output'), must: false })],
        next: { do: 'end', state: 'completed' },
      })
      expect(await stage.find('child')).toMatchObject({ state: 'completed', owned: false, wakeAt: null })
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([{ run: parent.run, mail: 1 }])
      const end = await stage.port.feed.read(0, 10)
      expect(end.entries).toMatchObject([{ kind: 'run-ended', run: 'child' }])
    })

    test('a run that sends may be parked by the same unit', async (stage) => {
      const worker = await stage.worker()
      await stage.owned('target', worker)
      const sender = await stage.owned('sender', worker)
      const sends = [outgoing('target')]
      const outcome = await stage.commit(sender, { sends, next: { do: 'park', wakeAt: later } })
      expect(outcome).toMatchObject({ outcome: 'ok', parked: true })
      expect(await stage.find('sender')).toMatchObject({ owned: false, wakeAt: later })
    })

    test('a run that sends is not parked if it has unseen mail', async (stage) => {
      const worker = await stage.worker()
      await stage.owned('target', worker)
      const sender = await stage.owned('sender', worker)
      await stage.port.mail.send([signal('sender')], null)
      const outcome = await stage.commit(sender, {
        sends: [outgoing('target')],
        next: { do: 'park', wakeAt: later },
      })
      expect(outcome).toMatchObject({ outcome: 'ok', parked: false, mail: 1 })
      expect(await stage.find('sender')).toMatchObject({ owned: true, wakeAt: null })
    })

    test('a message does not reset the tries of the run that gets it', async (stage) => {
      const doomed = await stage.doomedWorker()
      await stage.owned('target', doomed)
      await stage.port.workers.sweep()
      const { tries } = await stage.find('target')
      const sender = await stage.owned('sender', await stage.worker())
      await stage.commit(sender, { sends: [outgoing('target')] })
      expect(tries).toBe(1)
      expect(await stage.find('target')).toMatchObject({ tries })
    })

    test('a commit with several events, seals and effects keeps them all', async (stage) => {
      const worker = await stage.worker()
      const target = await stage.owned('target', worker)
      const standing = await stage.owned('a', worker)
      await stage.port.mail.send([signal('a')], null)
      standing.seen = 1
      await stage.commit(standing, {
        events: [settled(0), settled(1)],
        seals: [null, link(9)],
        consumes: [1],
        sends: [outgoing('target')],
        creates: [childRun('child', 'a')],
        info: bytes('shown'),
      })
      const log = await stage.port.log.load(standing.run, 0, 10)
      expect(log.map((event) => event.link && hex(event.link))).toEqual([null, null, hex(link(9))])
      expect(await stage.port.mail.list(standing.run, 0)).toEqual([])
      expect(text((await stage.find('a')).info)).toBe('shown')
      expect(await stage.find('target')).toMatchObject({ run: target.run, mail: 1 })
    })
  })

  describe('units that cancel other runs', () => {
    const cancel = { kind: 'cancel', name: '', key: cancelKey, payload: bytes('why') } as const

    test('a request is stored as one of a caller is', async (stage) => {
      const worker = await stage.worker()
      const target = await stage.parked('target', worker)
      const sender = await stage.owned('sender', worker)
      const outcome = await stage.commit(sender, { sends: [outgoing('target', cancel)] })
      const at = outcome.outcome === 'ok' ? outcome.at : 0
      expect(await stage.find('target')).toMatchObject({ cancelAt: at, wakeAt: at, mail: 1 })
      expect(await stage.port.mail.list(target.run, 0)).toMatchObject([{ kind: 'cancel', name: '' }])
      expect((await stage.dump()).messages).toMatchObject([{ key: cancelKey }])
      expect(await stage.port.mail.cancel({ run: 'target', payload: null }, null)).toMatchObject({
        outcome: 'duplicate',
      })
    })

    test('a second request is not stored, and the first stands', async (stage) => {
      const worker = await stage.worker()
      await stage.owned('target', worker)
      await stage.port.mail.cancel({ run: 'target', payload: bytes('first') }, null)
      const { cancelAt } = await stage.find('target')
      const sender = await stage.owned('sender', worker)
      await stage.passed(cancelAt ?? 0)
      expect(await stage.commit(sender, { sends: [outgoing('target', cancel)] })).toMatchObject({
        outcome: 'ok',
      })
      expect(await stage.find('target')).toMatchObject({ cancelAt, mail: 1 })
    })

    test('a stuck run becomes due; a quarantined one refuses a request that must arrive, and keeps any other until it is released', async (stage) => {
      const worker = await stage.worker()
      for (const mark of ['stuck', 'quarantined'] as const) {
        const { run } = await stage.owned(mark, worker)
        await stage.port.runs.mark(
          worker,
          run,
          1,
          mark,
          bytes('why'),
          mark === 'stuck' ? undefined : 'damage',
        )
      }
      const sender = await stage.owned('sender', worker)
      await stage.commit(sender, { sends: [outgoing('stuck', cancel)] })
      expect(await stage.find('stuck')).toMatchObject({ mark: 'stuck', wakeAt: expect.any(Number), mail: 1 })
      const refused = await stage.commit(sender, { sends: [outgoing('quarantined', cancel)] })
      expect(refused).toEqual({ outcome: 'refused', item: 0, why: 'quarantined' })
      await stage.commit(sender, { sends: [outgoing('quarantined', { ...cancel, must: false })] })
      const kept = await stage.find('quarantined')
      expect(kept).toMatchObject({ mark: 'quarantined', wakeAt: null, mail: 1, cancelAt: expect.any(Number) })
      await stage.port.runs.retry(kept.run, 'quarantined')
      expect(await stage.find('quarantined')).toMatchObject({ mark: 'none', wakeAt: expect.any(Number) })
      expect(await stage.port.mail.list(kept.run, 0)).toMatchObject([{ kind: 'cancel' }])
    })
  })
}
