import { cancelKey } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import {
  allRuns,
  bytes,
  childRun,
  hex,
  later,
  link,
  outgoing,
  settled,
  signal,
  started,
  text,
  unitFor,
} from '../builders.ts'
import type { StageTest } from '../stage.ts'

export function describeOtherRuns(test: StageTest): void {
  describe('units that create runs', () => {
    test('a run is created with the unit, due at once, and names its parent', async (stage) => {
      const claimant = await stage.claimant()
      const parent = await stage.owned('parent', claimant.worker)
      const child = childRun('child', 'parent', {
        tags: ['a', 'it\'s "b"'],
        startedBy: 'user:amy',
        link: link(7),
        parent: { run: 'parent', position: 7 },
        started: started({ payload: bytes('of the parent') }),
      })
      const outcome = await stage.commit(parent, { creates: [child] })
      const at = outcome.outcome === 'ok' ? outcome.at : 0
      expect(outcome).toMatchObject({ outcome: 'ok', parked: false, mail: 0 })
      const row = await stage.find('child')
      expect(row).toMatchObject({
        procedure: 'refund',
        version: 1,
        state: 'live',
        owned: false,
        wakeAt: at,
        createdAt: at,
        head: 1,
        mail: 0,
        tags: ['a', 'it\'s "b"'],
        startedBy: 'user:amy',
        parent: { run: 'parent', position: 7 },
      })
      expect(hex(row.link)).toBe(hex(link(7)))
      const log = await stage.port.load(row.run, 0, 10)
      expect(log).toMatchObject([{ seq: 0, at, epoch: 0, type: 'started', position: -1 }])
      expect(text(log[0]?.payload)).toBe('of the parent')
      expect((await stage.port.claim(claimant, 10)).runs).toMatchObject([{ id: 'child', epoch: 2, head: 1 }])
    })

    test('a run without a version gets one at its first claim', async (stage) => {
      const claimant = await stage.claimant([{ name: 'refund', versions: [1, 4] }])
      const parent = await stage.owned('parent', claimant.worker)
      await stage.commit(parent, { creates: [childRun('child', 'parent', { version: null })] })
      expect(await stage.find('child')).toMatchObject({ version: null })
      expect((await stage.port.claim(claimant, 10)).runs).toMatchObject([{ id: 'child', version: 4 }])
    })

    test('several units create several runs, and each may park or end', async (stage) => {
      const worker = await stage.worker()
      const [a, b, c] = [
        await stage.owned('a', worker),
        await stage.owned('b', worker),
        await stage.owned('c', worker),
      ]
      const outcomes = await stage.port.commit(worker, [
        unitFor(a, {
          creates: [childRun('a.1', 'a'), childRun('a.2', 'a')],
          next: { do: 'park', wakeAt: later },
        }),
        unitFor(b, { creates: [childRun('b.1', 'b')], next: { do: 'end', state: 'completed' } }),
        unitFor(c),
      ])
      expect(outcomes).toMatchObject([{ parked: true }, { parked: false }, { parked: false }])
      const rows = await stage.port.runs(allRuns())
      expect(
        new Map(
          rows.map(({ id, parent, state, wakeAt }) => [id, [parent?.run ?? null, state, wakeAt === later]]),
        ),
      ).toEqual(
        new Map([
          ['b.1', ['b', 'live', false]],
          ['a.2', ['a', 'live', false]],
          ['a.1', ['a', 'live', false]],
          ['c', [null, 'live', false]],
          ['b', [null, 'completed', false]],
          ['a', [null, 'live', true]],
        ]),
      )
    })

    test('runs are listed by their parent', async (stage) => {
      const parent = await stage.owned('parent', await stage.worker())
      await stage.commit(parent, {
        creates: [
          childRun('one', 'parent'),
          childRun('two', 'parent', { parent: { run: 'parent', position: 1 } }),
        ],
      })
      await stage.commit(parent, { creates: [childRun('three', 'parent', { tags: ['x'] })] })
      expect(await stage.find('two')).toMatchObject({ parent: { run: 'parent', position: 1 } })
      const list = async (overrides: Parameters<typeof allRuns>[0]) =>
        (await stage.port.runs(allRuns(overrides))).map(({ id }) => id).sort()
      expect(await list({ parent: 'parent' })).toEqual(['one', 'three', 'two'])
      expect(await list({ parent: 'parent', tag: 'x' })).toEqual(['three'])
      expect(await list({ parent: 'one' })).toEqual([])
      expect((await stage.port.runs(allRuns({ parent: 'parent', limit: 1 }))).map(({ id }) => id)).toEqual([
        'three',
      ])
    })

    test('a taken id refuses the unit, and its neighbours are written', async (stage) => {
      const worker = await stage.worker()
      await stage.ended('taken', worker)
      const [a, b] = [await stage.owned('a', worker), await stage.owned('b', worker)]
      const outcomes = await stage.port.commit(worker, [
        unitFor(a, { info: bytes('x'), creates: [childRun('free', 'a'), childRun('taken', 'a')] }),
        unitFor(b, { creates: [childRun('other', 'b')] }),
      ])
      expect(outcomes).toMatchObject([{ outcome: 'refused', item: 1, why: 'exists' }, { outcome: 'ok' }])
      expect(await stage.port.find('free')).toBeNull()
      expect(await stage.find('a')).toMatchObject({ head: 1, info: null, owned: true })
      expect(await stage.find('other')).toMatchObject({ parent: { run: 'b', position: 0 } })
    })

    test('a unit that creates one id twice is refused', async (stage) => {
      const parent = await stage.owned('parent', await stage.worker())
      const creates = [childRun('same', 'parent'), childRun('same', 'parent')]
      expect(await stage.commit(parent, { creates })).toEqual({ outcome: 'refused', item: 1, why: 'exists' })
      expect(await stage.port.find('same')).toBeNull()
    })

    test('the fence, the head and the mail are judged before other runs', async (stage) => {
      const worker = await stage.worker()
      const standing = await stage.owned('a', worker)
      await stage.ended('taken', worker)
      const creates = [childRun('taken', 'a')]
      expect(await stage.commit(standing, { creates, epoch: 9 })).toEqual({ outcome: 'fenced' })
      expect(await stage.commit(standing, { creates, head: 9 })).toEqual({ outcome: 'conflict' })
      await stage.port.send([signal('a')], null)
      expect(await stage.commit(standing, { creates, strict: true })).toEqual({ outcome: 'mail', mail: 1 })
      expect(await stage.commit(standing, { creates })).toMatchObject({ outcome: 'refused' })
    })

    test('a fenced unit creates no run', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      const creates = [childRun('child', 'a')]
      expect(await stage.commit(standing, { creates, epoch: 9 })).toEqual({ outcome: 'fenced' })
      expect(await stage.port.find('child')).toBeNull()
    })

    test('of two commits at once with one id, one creates the run', async (stage) => {
      const other = await stage.connect()
      const [a, b] = [
        await stage.owned('a', await stage.worker()),
        await stage.owned('b', await stage.worker()),
      ]
      for (let round = 0; round < 10; round++) {
        const id = `child ${round}`
        const outcomes = await Promise.all([
          stage.commit(a, { creates: [childRun(id, 'a')] }),
          stage.commit(b, { creates: [childRun(id, 'b')] }, other),
        ])
        expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['ok', 'refused'])
      }
    })
  })

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
      expect(await stage.port.mail(target.run, 0)).toMatchObject([
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
      const mail = await stage.port.mail(target.run, 0)
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
      await stage.port.mark(worker, stuck.run, 1, 'stuck', bytes('why'))
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
      await stage.port.send([signal('target')], null)
      const [a, b] = [await stage.owned('a', worker), await stage.owned('b', worker)]
      await stage.port.commit(worker, [
        unitFor(b, { sends: [outgoing('target', { name: 'b' })] }),
        unitFor(a, { sends: [outgoing('target', { name: 'a' }), outgoing('target', { name: 'a2' })] }),
      ])
      const mail = await stage.port.mail(target.run, 0)
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
      await stage.port.send([signal('target', { key: 's:1' })], null)
      const sender = await stage.owned('sender', worker)
      const sends = [
        outgoing('target', { key: 's:1' }),
        outgoing('target', { key: 's:2' }),
        outgoing('target', { key: 's:2' }),
      ]
      expect(await stage.commit(sender, { sends })).toMatchObject({ outcome: 'ok' })
      expect((await stage.port.mail(target.run, 0)).length).toBe(2)
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
      const outcomes = await stage.port.commit(worker, [
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
      expect((await stage.port.claim(claimant, 10)).runs).toMatchObject([{ run: parent.run, mail: 1 }])
      const end = await stage.port.feed(0, 10)
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
      await stage.port.send([signal('sender')], null)
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
      await stage.port.sweep()
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
      await stage.port.send([signal('a')], null)
      standing.seen = 1
      await stage.commit(standing, {
        events: [settled(0), settled(1)],
        seals: [null, link(9)],
        consumes: [1],
        sends: [outgoing('target')],
        creates: [childRun('child', 'a')],
        info: bytes('shown'),
      })
      const log = await stage.port.load(standing.run, 0, 10)
      expect(log.map((event) => event.link && hex(event.link))).toEqual([null, null, hex(link(9))])
      expect(await stage.port.mail(standing.run, 0)).toEqual([])
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
      expect(await stage.port.mail(target.run, 0)).toMatchObject([{ kind: 'cancel', name: '' }])
      expect((await stage.dump()).messages).toMatchObject([{ key: cancelKey }])
      expect(await stage.port.cancel({ run: 'target', payload: null }, null)).toMatchObject({
        outcome: 'duplicate',
      })
    })

    test('a second request is not stored, and the first stands', async (stage) => {
      const worker = await stage.worker()
      await stage.owned('target', worker)
      await stage.port.cancel({ run: 'target', payload: bytes('first') }, null)
      const { cancelAt } = await stage.find('target')
      const sender = await stage.owned('sender', worker)
      await stage.passed(cancelAt ?? 0)
      expect(await stage.commit(sender, { sends: [outgoing('target', cancel)] })).toMatchObject({
        outcome: 'ok',
      })
      expect(await stage.find('target')).toMatchObject({ cancelAt, mail: 1 })
    })

    test('a stuck run becomes due, and a quarantined one refuses', async (stage) => {
      const worker = await stage.worker()
      for (const mark of ['stuck', 'quarantined'] as const) {
        const { run } = await stage.owned(mark, worker)
        await stage.port.mark(worker, run, 1, mark, bytes('why'), mark === 'stuck' ? undefined : 'damage')
      }
      const sender = await stage.owned('sender', worker)
      await stage.commit(sender, { sends: [outgoing('stuck', cancel)] })
      expect(await stage.find('stuck')).toMatchObject({ mark: 'stuck', wakeAt: expect.any(Number), mail: 1 })
      const refused = await stage.commit(sender, { sends: [outgoing('quarantined', cancel)] })
      expect(refused).toEqual({ outcome: 'refused', item: 0, why: 'quarantined' })
      await stage.commit(sender, { sends: [outgoing('quarantined', { ...cancel, must: false })] })
      expect(await stage.find('quarantined')).toMatchObject({ mail: 0, cancelAt: null })
    })
  })
}
