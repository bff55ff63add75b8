import { describe, expect } from 'vitest'
import { childRun } from '../builders.ts'
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
  })
}
