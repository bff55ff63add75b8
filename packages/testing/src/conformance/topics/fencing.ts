import { describe, expect } from 'vitest'
import { bytes, newAsk, type Standing, settled, signal, text, unitFor } from '../builders.ts'
import type { Stage, StageTest } from '../stage.ts'

export function describeFencing(test: StageTest): void {
  describe('fencing', () => {
    test('an unknown run is fenced', async (stage) => {
      const worker = await stage.worker()
      const nowhere: Standing = { run: 4711, id: 'x', worker, epoch: 1, head: 1, seen: 0 }
      expect(await stage.commit(nowhere)).toEqual({ outcome: 'fenced' })
    })

    test("another worker's run is fenced, though epoch and head are right", async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      expect(await stage.commit({ ...standing, worker: await stage.worker() })).toEqual({ outcome: 'fenced' })
    })

    test('an older epoch of the same worker is fenced, though worker and head are right', async (stage) => {
      const { old, claimant } = await takeOver(stage)
      expect(await stage.commit({ ...old, worker: claimant.worker })).toEqual({ outcome: 'fenced' })
    })

    test('an epoch that has not come yet is fenced', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      expect(await stage.commit({ ...standing, epoch: 2 })).toEqual({ outcome: 'fenced' })
    })

    test('an owner that was declared dead is fenced before anyone else has claimed', async (stage) => {
      const standing = await stage.owned('a', await stage.doomedWorker())
      await stage.port.workers.sweep()
      expect(await stage.commit(standing)).toEqual({ outcome: 'fenced' })
    })

    test('an owner that was declared dead is fenced after another has claimed, and written', async (stage) => {
      const { old, current } = await takeOver(stage)
      await stage.commit(current)
      expect(await stage.commit(old)).toEqual({ outcome: 'fenced' })
      expect(await stage.commit({ ...old, head: current.head })).toEqual({ outcome: 'fenced' })
    })

    test('an owner that has released is fenced', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.workers.release(standing.worker)
      expect(await stage.commit(standing)).toEqual({ outcome: 'fenced' })
    })

    test('an owner that has parked its run is fenced', async (stage) => {
      const standing = await stage.parked('a', await stage.worker())
      expect(await stage.commit(standing)).toEqual({ outcome: 'fenced' })
    })

    test('an owner that has marked its run is fenced', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.runs.mark(standing.worker, standing.run, 1, 'stuck', bytes('why'))
      expect(await stage.commit(standing)).toEqual({ outcome: 'fenced' })
    })

    test('every claim gets an epoch of its own, also by the same worker', async (stage) => {
      const claimant = await stage.claimant()
      const standing = await stage.owned('a', claimant.worker)
      const epochs = [1]
      for (let round = 0; round < 3; round++) {
        await stage.commit(standing, { next: { do: 'park', wakeAt: 0 } })
        const [claimed] = (await stage.port.claims.claim(claimant, 1)).runs
        standing.epoch = claimed?.epoch ?? 0
        epochs.push(standing.epoch)
      }
      expect(epochs).toEqual([1, 2, 3, 4])
    })

    test('a fenced unit among good ones harms none', async (stage) => {
      const { old, current, claimant } = await takeOver(stage)
      const other = await stage.owned('b', claimant.worker)
      const stale = unitFor({ ...old, run: current.run })
      const outcomes = await stage.port.log.commit(claimant.worker, [unitFor(other), stale])
      expect(outcomes).toMatchObject([{ outcome: 'ok' }, { outcome: 'fenced' }])
    })

    test('a fenced unit ends nothing, shows nothing, consumes nothing', async (stage) => {
      const { old } = await takeOver(stage)
      await stage.port.mail.send([signal('a')], null)
      await stage.commit(
        { ...old, seen: 1 },
        { consumes: [1], info: bytes('x'), next: { do: 'end', state: 'failed' } },
      )
      expect(await stage.find('a')).toMatchObject({ state: 'live', owned: true, info: null, endedAt: null })
      expect(await stage.port.mail.list(old.run, 0)).toHaveLength(1)
    })

    test('a fenced unit opens and closes no ask', async (stage) => {
      const { old, current } = await takeOver(stage)
      await stage.commit(current, { opens: [newAsk(5)] })
      await stage.commit(old, { opens: [newAsk(6)], closes: [{ position: 5, status: 'withdrawn' }] })
      expect(await stage.port.asks.find('a', 5)).toMatchObject({ status: 'open' })
      expect(await stage.port.asks.find('a', 6)).toBeNull()
    })

    test('a fenced owner marks nothing', async (stage) => {
      const { old } = await takeOver(stage)
      expect(await stage.port.runs.mark(old.worker, old.run, old.epoch, 'stuck', bytes('why'))).toBe(false)
      expect(await stage.find('a')).toMatchObject({ mark: 'none', owned: true })
    })

    test('the new owner continues where the old one stopped', async (stage) => {
      const { old, current } = await takeOver(stage)
      await stage.commit(old, { events: [settled(0, { payload: bytes('stale') })] })
      expect(
        await stage.commit(current, { events: [settled(0, { payload: bytes('fresh') })] }),
      ).toMatchObject({ outcome: 'ok' })
      const log = await stage.port.log.load(current.run, 1, 10)
      expect(log.map(({ epoch, payload }) => [epoch, text(payload)])).toEqual([[3, 'fresh']])
    })
  })
}

/** Creates run `a`, owned by a worker that is declared dead, then claimed by another. */
async function takeOver(stage: Stage) {
  const old = await stage.owned('a', await stage.doomedWorker())
  await stage.port.workers.sweep()
  const claimant = await stage.claimant()
  const [claimed] = (await stage.port.claims.claim(claimant, 1)).runs
  if (!claimed) throw new Error('nothing was handed back')
  return { old, claimant, current: { ...old, worker: claimant.worker, epoch: claimed.epoch } }
}
