import type { AddedCheckpoint, NewCheckpoint } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { bytes, newRun, settled, signal, started, text, unitFor } from '../builders.ts'
import type { Stage, StageTest } from '../stage.ts'

const all = { run: null, until: null, before: null, limit: 100 }

export function describeCheckpoints(test: StageTest): void {
  describe('checkpoints', () => {
    test('a run without checkpoints has none', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      expect(await stage.port.checkpoints.list({ ...all, run })).toEqual([])
      expect(await stage.port.checkpoints.find(run, 0)).toBeNull()
      expect(await stage.port.checkpoints.places({ run: null, before: null, limit: 10 })).toEqual([])
    })

    test('checkpoints are written with their unit, and listed from the newest', async (stage) => {
      const { port } = stage
      const a = await stage.owned('a', await stage.worker())
      const outcome = await stage.commit(a, {
        checkpoints: [checkpoint(4), checkpoint(1, { name: null, payload: null })],
      })
      const at = outcome.outcome === 'ok' ? outcome.at : 0
      await stage.commit(a, { checkpoints: [checkpoint(2)] })
      const rows = await port.checkpoints.list({ ...all, run: a.run })
      expect(rows.map(({ slot, position, name, payload }) => [slot, position, name, text(payload)])).toEqual([
        [2, 2, 'point 2', 'state 2'],
        [1, 1, null, null],
        [4, 4, 'point 4', 'state 4'],
      ])
      expect(rows[2]).toMatchObject({ run: 'a', runKey: a.run, seq: null, at })
      expect(await port.checkpoints.find(a.run, 4)).toEqual(rows[2])
      expect(await port.checkpoints.find(a.run, 3)).toBeNull()
      expect(await port.checkpoints.find(a.run + 1, 4)).toBeNull()
    })

    test('one that is written again replaces the one before, and is the newest', async (stage) => {
      const { port } = stage
      const a = await stage.owned('a', await stage.worker())
      await stage.commit(a, { checkpoints: [checkpoint(1), checkpoint(2)] })
      await stage.commit(a, { checkpoints: [checkpoint(1, { name: 'again', payload: bytes('other') })] })
      const rows = await port.checkpoints.list({ ...all, run: a.run })
      expect(rows.map(({ name, payload }) => [name, text(payload)])).toEqual([
        ['again', 'other'],
        ['point 2', 'state 2'],
      ])
    })

    test('each run has its own, also of one commit', async (stage) => {
      const worker = await stage.worker()
      const [a, b] = [await stage.owned('a', worker), await stage.owned('b', worker)]
      await stage.port.log.commit(worker, [
        unitFor(a, { checkpoints: [checkpoint(1)] }),
        unitFor(b, { checkpoints: [checkpoint(1), checkpoint(3)], next: { do: 'park', wakeAt: null } }),
      ])
      expect(await slots(stage, a.run)).toEqual([1])
      expect(await slots(stage, b.run)).toEqual([3, 1])
      expect((await stage.port.checkpoints.list(all)).map(({ run, slot }) => [run, slot])).toEqual([
        ['b', 3],
        ['b', 1],
        ['a', 1],
      ])
    })

    test('a unit that is not written leaves none', async (stage) => {
      const a = await stage.owned('a', await stage.worker())
      const checkpoints = [checkpoint(1)]
      expect(await stage.commit({ ...a, epoch: a.epoch + 1 }, { checkpoints })).toEqual({ outcome: 'fenced' })
      await stage.port.mail.send([signal('a')], null)
      expect(await stage.commit(a, { strict: true, checkpoints })).toMatchObject({ outcome: 'mail' })
      expect(await slots(stage, a.run)).toEqual([])
    })

    test('a caller adds one to a live run, owned or not, which changes nothing else', async (stage) => {
      const { port } = stage
      const worker = await stage.worker()
      const owned = await stage.owned('owned', worker)
      const parked = await stage.parked('parked', worker)
      for (const { run, id } of [owned, parked]) {
        const before = await stage.find(id)
        const added = await port.checkpoints.add(run, addition(600_000))
        expect(added).toMatchObject({ outcome: 'added' })
        const at = added.outcome === 'added' ? added.at : 0
        expect(await port.checkpoints.list({ ...all, run })).toMatchObject([
          { run: id, slot: 600_000, position: 3, name: 'by hand', seq: 5, at },
        ])
        expect(await stage.find(id)).toEqual(before)
      }
      expect(await stage.commit(owned)).toMatchObject({ outcome: 'ok', mail: 0 })
    })

    test('a slot is taken once', async (stage) => {
      const { port } = stage
      const { run } = await stage.owned('a', await stage.worker())
      await port.checkpoints.add(run, addition(600_000))
      const same = await port.checkpoints.add(run, addition(600_000, { payload: bytes('other') }))
      expect(same).toEqual({ outcome: 'taken' })
      expect(text((await port.checkpoints.find(run, 600_000))?.payload)).toBe('by hand')
    })

    test('none is added to a run that has ended or does not exist', async (stage) => {
      const { port } = stage
      const worker = await stage.worker()
      for (const state of ['completed', 'failed', 'cancelled'] as const) {
        const { run } = await stage.ended(state, worker, state)
        expect(await port.checkpoints.add(run, addition(600_000))).toEqual({ outcome: 'ended', state })
        expect(await slots(stage, run)).toEqual([])
      }
      expect(await port.checkpoints.add(999_999, addition(600_000))).toEqual({ outcome: 'missing' })
    })

    test('those of a completed run are found by their places only; those of a failed one are kept', async (stage) => {
      const { port } = stage
      const worker = await stage.worker()
      for (const state of ['completed', 'failed'] as const) {
        const a = await stage.owned(state, worker)
        await port.checkpoints.add(a.run, addition(600_000))
        await stage.commit(a, { checkpoints: [checkpoint(1)], next: { do: 'end', state } })
        expect(await slots(stage, a.run)).toEqual(state === 'failed' ? [1, 600_000] : [])
        expect((await port.checkpoints.find(a.run, 1)) === null).toBe(state === 'completed')
        const places = await port.checkpoints.places({ run: a.run, before: null, limit: 10 })
        expect(places).toMatchObject([
          { run: a.run, procedure: 'refund', state },
          { run: a.run, procedure: 'refund', state },
        ])
      }
      expect((await port.checkpoints.list(all)).map(({ run }) => run)).toEqual(['failed', 'failed'])
    })

    test('pages and ages', async (stage) => {
      const { port } = stage
      const a = await stage.owned('a', await stage.worker())
      await stage.commit(a, { checkpoints: [checkpoint(0), checkpoint(1)] })
      const [old] = await port.checkpoints.list(all)
      await stage.passed(old?.at ?? 0)
      await stage.commit(a, { checkpoints: [checkpoint(2), checkpoint(3)] })
      const first = await port.checkpoints.list({ ...all, limit: 3 })
      expect(first.map(({ slot }) => slot)).toEqual([3, 2, 1])
      const before = first[2]?.n ?? 0
      expect((await port.checkpoints.list({ ...all, before })).map(({ slot }) => slot)).toEqual([0])
      expect(
        (await port.checkpoints.list({ ...all, run: a.run, before, limit: 9 })).map(({ slot }) => slot),
      ).toEqual([0])
      expect((await port.checkpoints.list({ ...all, until: old?.at ?? 0 })).map(({ slot }) => slot)).toEqual([
        1, 0,
      ])
      expect((await port.checkpoints.list({ ...all, run: a.run, until: old?.at ?? 0 })).length).toBe(2)
      const places = await port.checkpoints.places({ run: null, before, limit: 9 })
      expect(places).toMatchObject([{ run: a.run, state: 'live', at: old?.at }])
    })

    test('they are removed by their numbers', async (stage) => {
      const { port } = stage
      const a = await stage.owned('a', await stage.worker())
      await stage.commit(a, { checkpoints: [checkpoint(0), checkpoint(1), checkpoint(2)] })
      const [, middle] = await port.checkpoints.list(all)
      expect(await port.checkpoints.remove([])).toBe(0)
      expect(await port.checkpoints.remove([middle?.n ?? 0])).toBe(1)
      expect(await port.checkpoints.remove([middle?.n ?? 0])).toBe(0)
      expect(await slots(stage, a.run)).toEqual([2, 0])
    })

    test('they go with their run, and with the generation before one that begins again', async (stage) => {
      const { port } = stage
      const worker = await stage.worker()
      const removed = await stage.owned('removed', worker)
      const again = await stage.owned('again', worker)
      for (const a of [removed, again]) {
        await port.checkpoints.add(a.run, addition(600_000))
        await stage.commit(a, { checkpoints: [checkpoint(1)], next: { do: 'end', state: 'failed' } })
      }
      expect(await port.removals.remove([removed.run])).toEqual(['removed'])
      const generation = { ...newRun('again'), started: started(), link: bytes('link'), info: bytes('info') }
      expect(await port.runs.restart([{ ...generation, run: again.run, head: again.head, kept: null }])).toBe(
        true,
      )
      expect(await port.checkpoints.list(all)).toEqual([])
      expect((await stage.dump()).checkpoints).toEqual([])
      expect(await port.checkpoints.add(removed.run, addition(600_000))).toEqual({ outcome: 'missing' })
    })

    test('a generation that repeats a past keeps the checkpoints that stay, and moves them with their events', async (stage) => {
      const { port } = stage
      const worker = await stage.worker()
      const a = await stage.owned('a', worker)
      const other = await stage.owned('other', worker)
      for (const one of [a, other]) {
        await port.checkpoints.add(one.run, addition(600_000))
        await port.checkpoints.add(one.run, addition(600_001))
        const checkpoints = [checkpoint(1), checkpoint(2)]
        await stage.commit(one, { checkpoints, next: { do: 'end', state: 'failed' } })
      }
      const rows = await port.checkpoints.list({ ...all, run: a.run })
      const numberOf = (slot: number) => rows.find((row) => row.slot === slot)?.n ?? 0
      const generation = { ...newRun('a'), started: started(), link: bytes('link'), info: bytes('info') }
      const checkpoints = [
        { n: numberOf(1), seq: null },
        { n: numberOf(600_001), seq: a.head + 1 },
      ]
      const kept = { startedAt: 7, exposedUntil: 7, events: [], cancelAt: null, signals: [], checkpoints }
      expect(await port.runs.restart([{ ...generation, run: a.run, head: a.head, kept }])).toBe(true)
      const stay = await port.checkpoints.list({ ...all, run: a.run })
      expect(stay).toEqual([
        rows.find(({ slot }) => slot === 1),
        { ...rows.find(({ slot }) => slot === 600_001), seq: a.head + 1 },
      ])
      expect(await slots(stage, other.run)).toEqual([2, 1, 600_001, 600_000])
    })

    test('a checkpoint that is added while the run ends is added before that, or not at all', async (stage) => {
      const other = await stage.connect()
      const worker = await stage.worker()
      for (let round = 0; round < 5; round++) {
        const a = await stage.owned(`run ${round}`, worker)
        const [added] = await Promise.all([
          other.checkpoints.add(a.run, addition(600_000)),
          stage.commit(a, { events: [settled(0)], next: { do: 'end', state: 'failed' } }),
        ])
        expect(await slots(stage, a.run)).toEqual(added.outcome === 'added' ? [600_000] : [])
      }
    })
  })
}

function checkpoint(slot: number, overrides: Partial<NewCheckpoint> = {}): NewCheckpoint {
  return { slot, position: slot, name: `point ${slot}`, payload: bytes(`state ${slot}`), ...overrides }
}

function addition(slot: number, overrides: Partial<AddedCheckpoint> = {}): AddedCheckpoint {
  return { slot, position: 3, seq: 5, name: 'by hand', payload: bytes('by hand'), ...overrides }
}

async function slots({ port }: Stage, run: number): Promise<readonly number[]> {
  return (await port.checkpoints.list({ ...all, run })).map(({ slot }) => slot)
}
