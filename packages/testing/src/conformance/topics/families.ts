import { describe, expect } from 'vitest'
import { bytes, childRun, type Standing } from '../builders.ts'
import type { StageTest } from '../stage.ts'

export function describeFamilies(test: StageTest): void {
  describe('families', () => {
    test('the runs below a run are counted at every depth and in every state, and no others', async (stage) => {
      const claimant = await stage.claimant()
      const root = await stage.owned('root', claimant.worker)
      const other = await stage.owned('other', claimant.worker)
      await stage.commit(root, { creates: [childRun('a', 'root'), childRun('b', 'root')] })
      await stage.commit(other, { creates: [childRun('c', 'other')] })
      for (const { run, id, epoch, head, mail } of (await stage.port.claims.claim(claimant, 10)).runs) {
        const standing = { run, id, epoch, head, seen: mail, worker: claimant.worker }
        const creates = [childRun(`${id}.1`, id), childRun(`${id}.2`, id)]
        await stage.commit(standing, { creates, next: { do: 'end', state: 'completed' } })
      }
      const count = (id: string, limit = 1_000) => stage.port.runs.countDescendants(id, limit)
      expect(await count('root')).toBe(6)
      expect(await count('other')).toBe(3)
      expect(await count('a')).toBe(2)
      expect(await count('a.1')).toBe(0)
      expect(await count('nowhere')).toBe(0)
    })

    test('no more than a limit are counted', async (stage) => {
      const root = await stage.owned('root', await stage.worker())
      const creates = Array.from({ length: 30 }, (_, index) => childRun(`child ${index}`, 'root'))
      await stage.commit(root, { creates })
      expect(await stage.port.runs.countDescendants('root', 7)).toBe(7)
      expect(await stage.port.runs.countDescendants('root', 30)).toBe(30)
      expect(await stage.port.runs.countDescendants('root', 31)).toBe(30)
    })

    test('a survey says who owns a run, and counts its children by status', async (stage) => {
      const claimant = await stage.claimant()
      const root = await stage.owned('root', claimant.worker)
      await stage.commit(root, { creates: ['a', 'b', 'c', 'd', 'e'].map((id) => childRun(id, 'root')) })
      const survey = (id = 'root', limit = 1_000) => stage.port.runs.survey(root.run, id, limit)
      const none = {
        ...{ running: 0, waiting: 0, completed: 0, failed: 0, cancelled: 0 },
        ...{ stuck: 0, quarantined: 0 },
      }
      expect((await survey()).children).toEqual({ ...none, running: 5 })
      const claimed = (await stage.port.claims.claim(claimant, 5)).runs
      const [a, b, c, d] = claimed.map(({ run, id, epoch, head, mail }) => ({
        ...{ run, id, epoch, head, seen: mail, worker: claimant.worker },
      })) as [Standing, Standing, Standing, Standing]
      await stage.commit(a, { next: { do: 'end', state: 'completed' } })
      await stage.commit(b, { next: { do: 'end', state: 'failed' } })
      await stage.commit(c, { next: { do: 'park', wakeAt: null } })
      await stage.port.runs.mark(claimant.worker, d.run, d.epoch, 'stuck', bytes('why'))
      const found = await survey()
      expect(found.children).toEqual({ ...none, running: 1, waiting: 1, completed: 1, failed: 1, stuck: 1 })
      const worker = (await stage.port.workers.list()).find((one) => one.worker === claimant.worker)
      expect(found.owner).toEqual({
        name: worker?.name,
        beatAt: worker?.beatAt,
        leaseMs: worker?.leaseMs,
      })
      // The newest ones are counted.
      const newest = (await survey('root', 1)).children
      expect(Object.values(newest).reduce((sum, count) => sum + count)).toBe(1)
      expect(await stage.port.runs.survey(c.run, 'c', 1_000)).toEqual({ owner: null, children: none })
    })
  })
}
