import { describe, expect } from 'vitest'
import { bytes, hex, link, newRun, started } from '../builders.ts'
import type { StageTest } from '../stage.ts'

export function describeCreate(test: StageTest): void {
  describe('create', () => {
    test('a created run can be found', async (stage) => {
      const before = await stage.port.now()
      const [created] = await stage.port.runs.create([newRun('a')])
      expect(created).toMatchObject({ outcome: 'created', run: expect.any(Number), at: expect.any(Number) })
      const row = await stage.find('a')
      expect(row).toMatchObject({
        id: 'a',
        procedure: 'refund',
        version: 1,
        state: 'live',
        mark: 'none',
        mail: 0,
        head: 1,
      })
      expect(row).toMatchObject({ endedAt: null, info: null, reason: null })
      expect(row.createdAt).toBeGreaterThanOrEqual(before)
      expect(row.createdAt).toBeLessThanOrEqual(await stage.port.now())
    })

    test('the first event of a created run is stored as given', async (stage) => {
      const event = started({ name: 'refund it', payload: bytes('{"amount":45}'), tookMs: null })
      const [created] = await stage.port.runs.create([newRun('a', { started: event })])
      const run = created?.outcome === 'created' ? created.run : 0
      const at = created?.outcome === 'created' ? created.at : 0
      const log = await stage.port.log.load(run, 0, 10)
      expect(log.map(({ payload, ...rest }) => ({ ...rest, payload: payload && [...payload] }))).toEqual([
        { ...event, payload: [...bytes('{"amount":45}')], seq: 0, epoch: 0, at, link: null },
      ])
    })

    test('the first event belongs to the first owner, or to none', async (stage) => {
      const worker = await stage.worker()
      const created = await stage.port.runs.create([
        newRun('a', { worker }),
        newRun('b'),
        newRun('c', { worker: 4711 }),
      ])
      const keys = created.map(({ run }) => run)
      const logs = await Promise.all(keys.map((run) => stage.port.log.load(run, 0, 10)))
      expect(logs.map(([event]) => event?.epoch)).toEqual([1, 0, 0])
      const [alone] = await stage.port.runs.create([newRun('d', { worker })])
      expect(await stage.port.log.load(alone?.run ?? 0, 0, 10)).toMatchObject([{ epoch: 1 }])
    })

    test('a taken id creates nothing and returns the existing run', async (stage) => {
      const [first] = await stage.port.runs.create([newRun('a')])
      const [second] = await stage.port.runs.create([newRun('a', { procedure: 'other', tags: ['x'] })])
      expect(second).toEqual({ outcome: 'exists', run: first?.run })
      expect(await stage.find('a')).toMatchObject({ procedure: 'refund', tags: [] })
    })

    test('an id twice in one call creates one run', async (stage) => {
      const [first, second] = await stage.port.runs.create([newRun('a'), newRun('a', { procedure: 'other' })])
      expect(first).toMatchObject({ outcome: 'created' })
      expect(second).toEqual({ outcome: 'exists', run: first?.run })
    })

    test('a taken id does not harm its neighbours', async (stage) => {
      await stage.port.runs.create([newRun('b')])
      const created = await stage.port.runs.create([newRun('a'), newRun('b'), newRun('c')])
      expect(created.map(({ outcome }) => outcome)).toEqual(['created', 'exists', 'created'])
    })

    test('newer runs have higher keys', async (stage) => {
      const created = await stage.port.runs.create(['a', 'b', 'c'].map((id) => newRun(id)))
      const keys = created.map(({ run }) => run)
      expect([...keys].sort((a, b) => a - b)).toEqual(keys)
      expect(new Set(keys).size).toBe(3)
    })

    test('a run created without a worker is due at once, for any worker', async (stage) => {
      await stage.port.runs.create([newRun('a')])
      expect(await stage.find('a')).toMatchObject({ owned: false })
      expect((await stage.port.claims.claim(await stage.claimant(), 10)).runs).toMatchObject([
        { id: 'a', epoch: 2, head: 1 },
      ])
    })

    test('a run created with a worker belongs to it, with epoch 1', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      expect(await stage.find('a')).toMatchObject({ owned: true, wakeAt: null })
      expect((await stage.port.claims.claim(await stage.claimant(), 10)).runs).toEqual([])
      expect(await stage.commit(standing)).toMatchObject({ outcome: 'ok', epoch: 1 })
    })

    test('a run created for a dead worker is due for any worker', async (stage) => {
      const worker = await stage.worker()
      await stage.port.workers.release(worker)
      const standing = await stage.owned('a', worker)
      expect(await stage.find('a')).toMatchObject({ owned: false })
      expect(await stage.commit(standing)).toEqual({ outcome: 'fenced' })
      expect((await stage.port.claims.claim(await stage.claimant(), 10)).runs).toMatchObject([{ id: 'a' }])
    })

    test('a run created for an unknown worker is due for any worker', async (stage) => {
      await stage.owned('a', 4711)
      expect((await stage.port.claims.claim(await stage.claimant(), 10)).runs).toMatchObject([{ id: 'a' }])
    })

    test('tags and starter are stored as given', async (stage) => {
      await stage.port.runs.create([
        newRun('a', { tags: ['shop:7', 'vip', 'Ünïcode'], startedBy: 'user:amy' }),
      ])
      expect(await stage.find('a')).toMatchObject({
        tags: ['shop:7', 'vip', 'Ünïcode'],
        startedBy: 'user:amy',
      })
    })

    test('an undecided version stays open until the first claim', async (stage) => {
      await stage.port.runs.create([newRun('a', { version: null })])
      expect(await stage.find('a')).toMatchObject({ version: null })
      await stage.port.claims.claim(await stage.claimant([{ name: 'refund', versions: [2, 5, 3] }]), 1)
      expect(await stage.find('a')).toMatchObject({ version: 5 })
    })

    test('the hash after the first event is what a claimant gets', async (stage) => {
      await stage.port.runs.create([newRun('a', { link: link(42) })])
      const { runs } = await stage.port.claims.claim(await stage.claimant(), 1)
      expect(runs.map((run) => hex(run.link))).toEqual([hex(link(42))])
    })

    test('a first event without a payload stays without one', async (stage) => {
      const [created] = await stage.port.runs.create([newRun('a', { started: started({ payload: null }) })])
      expect(await stage.port.log.load(created?.run ?? 0, 0, 1)).toMatchObject([{ payload: null }])
    })

    test('an empty create writes nothing', async (stage) => {
      expect(await stage.port.runs.create([])).toEqual([])
    })

    for (const id of [
      "o'clock",
      '100%',
      'a_b',
      'π/☕️/run',
      'spa ce',
      '"; drop table runs; --',
      'x'.repeat(1000),
    ]) {
      test(`the id ${JSON.stringify(id.slice(0, 30))} is accepted`, async (stage) => {
        await stage.port.runs.create([newRun(id), newRun('a')])
        expect(await stage.find(id)).toMatchObject({ id })
        expect(await stage.port.runs.find(`${id}.`)).toBeNull()
      })
    }

    test('ids differ by case', async (stage) => {
      const created = await stage.port.runs.create([newRun('a'), newRun('A')])
      expect(created.map(({ outcome }) => outcome)).toEqual(['created', 'created'])
    })
  })
}
