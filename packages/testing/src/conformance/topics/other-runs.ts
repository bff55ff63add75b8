import { describe, expect } from 'vitest'
import { allRuns, bytes, childRun, hex, later, link, signal, started, text, unitFor } from '../builders.ts'
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
      const log = await stage.port.log.load(row.run, 0, 10)
      expect(log).toMatchObject([{ seq: 0, at, epoch: 0, type: 'started', position: -1 }])
      expect(text(log[0]?.payload)).toBe('of the parent')
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([
        { id: 'child', epoch: 2, head: 1 },
      ])
    })

    test('a run without a version gets one at its first claim', async (stage) => {
      const claimant = await stage.claimant([{ name: 'refund', versions: [1, 4] }])
      const parent = await stage.owned('parent', claimant.worker)
      await stage.commit(parent, { creates: [childRun('child', 'parent', { version: null })] })
      expect(await stage.find('child')).toMatchObject({ version: null })
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([{ id: 'child', version: 4 }])
    })

    test('several units create several runs, and each may park or end', async (stage) => {
      const worker = await stage.worker()
      const [a, b, c] = [
        await stage.owned('a', worker),
        await stage.owned('b', worker),
        await stage.owned('c', worker),
      ]
      const outcomes = await stage.port.log.commit(worker, [
        unitFor(a, {
          creates: [childRun('a.1', 'a'), childRun('a.2', 'a')],
          next: { do: 'park', wakeAt: later },
        }),
        unitFor(b, { creates: [childRun('b.1', 'b')], next: { do: 'end', state: 'completed' } }),
        unitFor(c),
      ])
      expect(outcomes).toMatchObject([{ parked: true }, { parked: false }, { parked: false }])
      const rows = await stage.port.runs.list(allRuns())
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
        (await stage.port.runs.list(allRuns(overrides))).map(({ id }) => id).sort()
      expect(await list({ parent: 'parent' })).toEqual(['one', 'three', 'two'])
      expect(await list({ parent: 'parent', tag: 'x' })).toEqual(['three'])
      expect(await list({ parent: 'one' })).toEqual([])
      expect(
        (await stage.port.runs.list(allRuns({ parent: 'parent', limit: 1 }))).map(({ id }) => id),
      ).toEqual(['three'])
    })

    test('a taken id refuses the unit, and its neighbours are written', async (stage) => {
      const worker = await stage.worker()
      await stage.ended('taken', worker)
      const [a, b] = [await stage.owned('a', worker), await stage.owned('b', worker)]
      const outcomes = await stage.port.log.commit(worker, [
        unitFor(a, { info: bytes('x'), creates: [childRun('free', 'a'), childRun('taken', 'a')] }),
        unitFor(b, { creates: [childRun('other', 'b')] }),
      ])
      expect(outcomes).toMatchObject([{ outcome: 'refused', item: 1, why: 'exists' }, { outcome: 'ok' }])
      expect(await stage.port.runs.find('free')).toBeNull()
      expect(await stage.find('a')).toMatchObject({ head: 1, info: null, owned: true })
      expect(await stage.find('other')).toMatchObject({ parent: { run: 'b', position: 0 } })
    })

    test('a unit that creates one id twice is refused', async (stage) => {
      const parent = await stage.owned('parent', await stage.worker())
      const creates = [childRun('same', 'parent'), childRun('same', 'parent')]
      expect(await stage.commit(parent, { creates })).toEqual({ outcome: 'refused', item: 1, why: 'exists' })
      expect(await stage.port.runs.find('same')).toBeNull()
    })

    test('the fence, the head and the mail are judged before other runs', async (stage) => {
      const worker = await stage.worker()
      const standing = await stage.owned('a', worker)
      await stage.ended('taken', worker)
      const creates = [childRun('taken', 'a')]
      expect(await stage.commit(standing, { creates, epoch: 9 })).toEqual({ outcome: 'fenced' })
      expect(await stage.commit(standing, { creates, head: 9 })).toEqual({ outcome: 'conflict' })
      await stage.port.mail.send([signal('a')], null)
      expect(await stage.commit(standing, { creates, strict: true })).toEqual({ outcome: 'mail', mail: 1 })
      expect(await stage.commit(standing, { creates })).toMatchObject({ outcome: 'refused' })
    })

    test('a fenced unit creates no run', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      const creates = [childRun('child', 'a')]
      expect(await stage.commit(standing, { creates, epoch: 9 })).toEqual({ outcome: 'fenced' })
      expect(await stage.port.runs.find('child')).toBeNull()
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
}
