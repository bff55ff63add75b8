import { describe, expect } from 'vitest'
import { hex, link, settled } from '../builders.ts'
import type { StageTest } from '../stage.ts'

const anyTimes = { startedAt: expect.any(Number), beatAt: expect.any(Number) }

export function describeWorkers(test: StageTest): void {
  describe('workers', () => {
    test('every registration gets its own key', async (stage) => {
      const other = await stage.connect()
      const keys = [
        await stage.worker(),
        await stage.worker(),
        await other.workers.register({ name: 'b', leaseMs: 1000 }),
      ]
      expect(new Set(keys).size).toBe(3)
    })

    test('the key of a dead worker is not reused', async (stage) => {
      const first = await stage.worker()
      await stage.port.workers.release(first)
      await stage.port.workers.sweep()
      expect(await stage.worker()).not.toBe(first)
    })

    test('a live worker beats', async (stage) => {
      expect(await stage.port.workers.beat(await stage.worker())).toBe(true)
    })

    test('an unknown worker does not beat', async (stage) => {
      expect(await stage.port.workers.beat(4711)).toBe(false)
    })

    test('a released worker does not beat', async (stage) => {
      const worker = await stage.worker()
      await stage.port.workers.release(worker)
      expect(await stage.port.workers.beat(worker)).toBe(false)
    })

    test('a worker that was declared dead does not beat, even in time', async (stage) => {
      const worker = await stage.doomedWorker()
      await stage.port.workers.sweep()
      expect(await stage.port.workers.beat(worker)).toBe(false)
      expect(await stage.port.workers.beat(worker)).toBe(false)
    })

    test('a worker that beats in time lives on', async (stage) => {
      const worker = await stage.worker(2_000)
      const standing = await stage.owned('a', worker)
      for (let round = 0; round < 3; round++) {
        await stage.passed((await stage.port.now()) + 800)
        expect(await stage.port.workers.beat(worker)).toBe(true)
        expect(await stage.port.workers.sweep()).toBe(0)
      }
      expect(await stage.commit(standing)).toMatchObject({ outcome: 'ok' })
    })

    test('a lease that is not renewed expires', async (stage) => {
      const worker = await stage.worker(20)
      await stage.owned('a', worker)
      await stage.passed((await stage.port.now()) + 40)
      expect(await stage.port.workers.sweep()).toBe(1)
    })

    test('live workers are listed with what they have declared, and how many runs they own', async (stage) => {
      const declared = { procedures: [{ name: 'refund', versions: [1, 2] }], inputs: '[{"of":"refund"}]' }
      const before = await stage.port.now()
      const one = await stage.port.workers.register({ name: 'web-1/7', leaseMs: 60_000, ...declared })
      const two = await (await stage.connect()).workers.register({ name: 'web-2/8', leaseMs: 1_000 })
      await stage.owned('a', one)
      await stage.owned('b', one)
      const listed = await stage.port.workers.list()
      expect(listed).toEqual([
        { worker: one, name: 'web-1/7', leaseMs: 60_000, runs: 2, ...declared, ...anyTimes },
        {
          worker: two,
          name: 'web-2/8',
          leaseMs: 1_000,
          runs: 0,
          procedures: null,
          inputs: null,
          ...anyTimes,
        },
      ])
      expect(listed[0]?.startedAt).toBeGreaterThanOrEqual(before)
      expect(listed[0]?.beatAt).toBeGreaterThanOrEqual(listed[0]?.startedAt ?? 0)
    })

    test('a worker that was released, or whose lease has expired, is not listed', async (stage) => {
      const [released, living] = [await stage.worker(), await stage.worker()]
      await stage.doomedWorker()
      await stage.port.workers.release(released)
      expect((await stage.port.workers.list()).map(({ worker }) => worker)).toEqual([living])
    })

    test('a sweep that finds no dead worker hands nothing back', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      expect(await stage.port.workers.sweep()).toBe(0)
      expect(await stage.commit(standing)).toMatchObject({ outcome: 'ok' })
    })

    test('a sweep hands the runs of a dead worker back, due at once', async (stage) => {
      const standing = await stage.owned('a', await stage.doomedWorker())
      expect(await stage.port.workers.sweep()).toBe(1)
      const row = await stage.find('a')
      expect(row).toMatchObject({ owned: false, state: 'live', head: standing.head })
      expect(row.wakeAt).toBeLessThanOrEqual(await stage.port.now())
    })

    test('a sweep raises the epoch and the tries of what it hands back', async (stage) => {
      await stage.owned('a', await stage.doomedWorker())
      await stage.port.workers.sweep()
      expect((await stage.dump()).runs).toMatchObject([{ epoch: 2, tries: 1, worker: null }])
    })

    test('a sweep hands back all runs of a dead worker, and none twice', async (stage) => {
      const doomed = await stage.doomedWorker()
      for (const id of ['a', 'b', 'c']) await stage.owned(id, doomed)
      expect(await stage.port.workers.sweep()).toBe(3)
      expect(await stage.port.workers.sweep()).toBe(0)
    })

    test('a sweep leaves the runs of live workers alone', async (stage) => {
      const alive = await stage.owned('a', await stage.worker())
      await stage.owned('b', await stage.doomedWorker())
      expect(await stage.port.workers.sweep()).toBe(1)
      expect(await stage.commit(alive)).toMatchObject({ outcome: 'ok' })
    })

    test('a sweep leaves waiting runs alone', async (stage) => {
      await stage.parked('a', await stage.doomedWorker())
      expect(await stage.port.workers.sweep()).toBe(0)
      expect(await stage.find('a')).toMatchObject({ owned: false, wakeAt: null })
    })

    test('a sweep leaves ended runs alone', async (stage) => {
      await stage.ended('a', await stage.doomedWorker())
      expect(await stage.port.workers.sweep()).toBe(0)
      expect(await stage.find('a')).toMatchObject({ state: 'completed', wakeAt: null })
    })

    test('tries add up over deaths, and what the claimant sees is their number', async (stage) => {
      await stage.owned('a', await stage.doomedWorker())
      const procedures = [{ name: 'refund', versions: [1] }]
      for (let deaths = 1; deaths <= 3; deaths++) {
        await stage.port.workers.sweep()
        const worker = await stage.doomedWorker()
        const { runs } = await stage.port.claims.claim({ worker, procedures }, 10)
        expect(runs).toMatchObject([{ tries: deaths }])
      }
    })

    test('a commit sets the tries back to 0', async (stage) => {
      const standing = await stage.owned('a', await stage.doomedWorker())
      await stage.port.workers.sweep()
      const claimant = await stage.claimant()
      const [claimed] = (await stage.port.claims.claim(claimant, 1)).runs
      const mine = { ...standing, worker: claimant.worker, epoch: claimed?.epoch ?? 0 }
      expect(await stage.commit(mine)).toMatchObject({ outcome: 'ok' })
      expect((await stage.dump()).runs).toMatchObject([{ tries: 0 }])
    })

    test('release hands the runs back, with a higher epoch and the tries as they were', async (stage) => {
      const worker = await stage.worker()
      await stage.owned('a', worker)
      await stage.port.workers.release(worker)
      expect((await stage.dump()).runs).toMatchObject([{ epoch: 2, tries: 0, worker: null }])
      expect((await stage.find('a')).wakeAt).toBeLessThanOrEqual(await stage.port.now())
    })

    test('release leaves the runs of others alone', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.workers.release(await stage.worker())
      expect(await stage.commit(standing)).toMatchObject({ outcome: 'ok' })
    })

    test('releasing twice, or an unknown worker, changes nothing', async (stage) => {
      const worker = await stage.worker()
      await stage.owned('a', worker)
      await stage.port.workers.release(worker)
      await stage.port.workers.release(worker)
      await stage.port.workers.release(4711)
      expect((await stage.dump()).runs).toMatchObject([{ epoch: 2, tries: 0 }])
    })

    test('a worker that was declared dead registers again and can claim its runs', async (stage) => {
      const dead = await stage.doomedWorker()
      await stage.owned('a', dead)
      await stage.port.workers.sweep()
      const claimant = await stage.claimant()
      expect(claimant.worker).not.toBe(dead)
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([{ id: 'a', epoch: 3 }])
    })

    test('another connection sweeps too', async (stage) => {
      await stage.owned('a', await stage.doomedWorker())
      expect(await (await stage.connect()).workers.sweep()).toBe(1)
      expect(await stage.port.workers.sweep()).toBe(0)
    })

    test('a run keeps its log through a takeover', async (stage) => {
      const standing = await stage.owned('a', await stage.doomedWorker())
      await stage.commit(standing, { events: [settled(0), settled(1)], link: link(7) })
      await stage.port.workers.sweep()
      const { runs } = await stage.port.claims.claim(await stage.claimant(), 10)
      expect(runs.map((run) => [run.head, hex(run.link)])).toEqual([[3, hex(link(7))]])
      expect(await stage.port.log.load(standing.run, 0, 10)).toHaveLength(3)
    })
  })
}
