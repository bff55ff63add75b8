import type { Claimant, WholeStore } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { later, newRun, signal } from '../builders.ts'
import type { StageTest } from '../stage.ts'

export function describeClaims(test: StageTest): void {
  describe('claims', () => {
    test('a claim returns everything the worker needs', async (stage) => {
      const claimant = await stage.claimant()
      const [created] = await stage.port.runs.create([newRun('a')])
      const claims = await stage.port.claims.claim(claimant, 10)
      expect(claims).toEqual({
        runs: [
          {
            run: created?.run,
            id: 'a',
            procedure: 'refund',
            version: 1,
            epoch: 2,
            head: 1,
            base: 0,
            mail: 0,
            tries: 0,
            positives: 0,
            alone: 0,
            mark: 'none',
            link: expect.anything(),
          },
        ],
        at: expect.any(Number),
        nextDueAt: null,
        leavesSuspects: false,
      })
      expect(await stage.find('a')).toMatchObject({ owned: true, wakeAt: null })
    })

    test('a claim on an empty store is empty', async (stage) => {
      const before = await stage.port.now()
      const { runs, at, nextDueAt } = await stage.port.claims.claim(await stage.claimant(), 10)
      expect([runs, nextDueAt]).toEqual([[], null])
      expect(at).toBeGreaterThanOrEqual(before)
      expect(at).toBeLessThanOrEqual(await stage.port.now())
    })

    test('a claim returns the longest due run first', async (stage) => {
      const claimant = await stage.claimant()
      for (const [id, wakeAt] of [
        ['a', 30],
        ['b', 10],
        ['c', 40],
        ['d', 20],
      ] as const) {
        await stage.parked(id, claimant.worker, { next: { do: 'park', wakeAt } })
      }
      expect(ids(await stage.port.claims.claim(claimant, 3))).toEqual(['b', 'd', 'a'])
      expect(ids(await stage.port.claims.claim(claimant, 3))).toEqual(['c'])
    })

    test('a claim returns the longest due run first, whatever its procedure and version', async (stage) => {
      const claimant = await stage.claimant([
        { name: 'refund', versions: [1, 2] },
        { name: 'order', versions: [7] },
      ])
      const kinds: [string, string, number | null, number][] = [
        ['a', 'refund', 2, 30],
        ['b', 'order', 7, 10],
        ['c', 'refund', 1, 20],
        ['d', 'order', null, 40],
        ['e', 'refund', null, 15],
      ]
      for (const [id, procedure, version, wakeAt] of kinds) {
        const standing = await stage.owned(id, claimant.worker, { procedure, version })
        await stage.commit(standing, { next: { do: 'park', wakeAt } })
      }
      expect(ids(await stage.port.claims.claim(claimant, 2))).toEqual(['b', 'e'])
      expect(ids(await stage.port.claims.claim(claimant, 10))).toEqual(['c', 'a', 'd'])
    })

    test('a claim keeps its limit, and the remaining runs are due for the next', async (stage) => {
      await stage.port.runs.create(['a', 'b', 'c', 'd', 'e'].map((id) => newRun(id)))
      const [one, two] = [await stage.claimant(), await stage.claimant()]
      const first = await stage.port.claims.claim(one, 2)
      expect(first.runs).toHaveLength(2)
      expect(first.nextDueAt).toBeLessThanOrEqual(first.at)
      expect((await stage.port.claims.claim(two, 10)).runs).toHaveLength(3)
    })

    test('a claimed run is not claimed again', async (stage) => {
      await stage.port.runs.create([newRun('a')])
      const claimant = await stage.claimant()
      expect(ids(await stage.port.claims.claim(claimant, 10))).toEqual(['a'])
      expect(ids(await stage.port.claims.claim(claimant, 10))).toEqual([])
    })

    test('a claim returns when the next run is due', async (stage) => {
      const claimant = await stage.claimant()
      for (const [id, wakeAt] of [
        ['a', later + 5],
        ['b', later + 1],
        ['c', later + 3],
      ] as const) {
        await stage.parked(id, claimant.worker, { next: { do: 'park', wakeAt } })
      }
      expect(await stage.port.claims.claim(claimant, 10)).toMatchObject({ runs: [], nextDueAt: later + 1 })
    })

    test('a claim returns when the next run of any of its procedures and versions is due', async (stage) => {
      const claimant = await stage.claimant([
        { name: 'order', versions: [1] },
        { name: 'refund', versions: [1, 2] },
      ])
      for (const [id, procedure, version, wakeAt] of [
        ['a', 'order', 1, later + 3],
        ['b', 'refund', 1, later + 1],
        ['c', 'refund', 2, later + 5],
      ] as const) {
        const standing = await stage.owned(id, claimant.worker, { procedure, version })
        await stage.commit(standing, { next: { do: 'park', wakeAt } })
      }
      expect(await stage.port.claims.claim(claimant, 10)).toMatchObject({ runs: [], nextDueAt: later + 1 })
    })

    test('a claim returns no due time of runs that it cannot execute', async (stage) => {
      await stage.port.runs.create([newRun('a', { procedure: 'order' })])
      expect(await stage.port.claims.claim(await stage.claimant(), 10)).toMatchObject({
        runs: [],
        nextDueAt: null,
      })
    })

    test('a claim leaves runs of other procedures', async (stage) => {
      await stage.port.runs.create([newRun('a', { procedure: 'order' }), newRun('b')])
      expect(ids(await stage.port.claims.claim(await stage.claimant(), 10))).toEqual(['b'])
      expect(
        ids(await stage.port.claims.claim(await stage.claimant([{ name: 'order', versions: [1] }]), 10)),
      ).toEqual(['a'])
    })

    test('runs that only others can execute do not block a claim', async (stage) => {
      const foreign = Array.from({ length: 50 }, (_, index) =>
        newRun(`foreign ${index}`, { procedure: 'order' }),
      )
      await stage.port.runs.create([...foreign, newRun('mine')])
      expect(ids(await stage.port.claims.claim(await stage.claimant(), 5))).toEqual(['mine'])
    })

    test('a claim leaves runs of other versions', async (stage) => {
      await stage.port.runs.create([
        newRun('a', { version: 1 }),
        newRun('b', { version: 2 }),
        newRun('c', { version: 3 }),
      ])
      const claimant = await stage.claimant([{ name: 'refund', versions: [2, 3] }])
      expect(ids(await stage.port.claims.claim(claimant, 10)).sort()).toEqual(['b', 'c'])
    })

    test("a run without a version gets the claimant's highest", async (stage) => {
      await stage.port.runs.create([newRun('a', { version: null })])
      const claimant = await stage.claimant([{ name: 'refund', versions: [3, 12, 7] }])
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([{ version: 12 }])
      expect(await stage.find('a')).toMatchObject({ version: 12 })
    })

    test('the version stays as the first claim fixed it', async (stage) => {
      await stage.port.runs.create([newRun('a', { version: null })])
      const first = await stage.claimant([{ name: 'refund', versions: [1] }])
      await stage.port.claims.claim(first, 10)
      await stage.port.workers.release(first.worker)
      expect(
        ids(await stage.port.claims.claim(await stage.claimant([{ name: 'refund', versions: [2] }]), 10)),
      ).toEqual([])
      const both = await stage.claimant([{ name: 'refund', versions: [1, 2] }])
      expect((await stage.port.claims.claim(both, 10)).runs).toMatchObject([{ id: 'a', version: 1 }])
    })

    test('a claimant that can execute nothing gets nothing', async (stage) => {
      await stage.port.runs.create([newRun('a'), newRun('b', { version: null })])
      expect(ids(await stage.port.claims.claim(await stage.claimant([]), 10))).toEqual([])
      expect(
        ids(await stage.port.claims.claim(await stage.claimant([{ name: 'refund', versions: [] }]), 10)),
      ).toEqual([])
    })

    test('a dead worker gets nothing', async (stage) => {
      await stage.port.runs.create([newRun('a')])
      const claimant = await stage.claimant()
      await stage.port.workers.release(claimant.worker)
      expect(ids(await stage.port.claims.claim(claimant, 10))).toEqual([])
      expect(ids(await stage.port.claims.claim({ ...claimant, worker: 4711 }, 10))).toEqual([])
      expect(await stage.find('a')).toMatchObject({ owned: false })
    })

    test('ended and waiting runs are not claimed', async (stage) => {
      const claimant = await stage.claimant()
      await stage.ended('a', claimant.worker)
      await stage.parked('b', claimant.worker)
      await stage.parked('c', claimant.worker, { next: { do: 'park', wakeAt: later } })
      expect(ids(await stage.port.claims.claim(claimant, 10))).toEqual([])
    })

    test('a limit of 0 claims nothing', async (stage) => {
      await stage.port.runs.create([newRun('a')])
      expect(ids(await stage.port.claims.claim(await stage.claimant(), 0))).toEqual([])
    })

    test('a hundred due runs go to two workers, each to one', async (stage) => {
      await stage.port.runs.create(Array.from({ length: 100 }, (_, index) => newRun(`run ${index}`)))
      const other = await stage.connect()
      const [one, two] = [await stage.claimant(), await stage.claimant()]
      const taken = (await Promise.all([claimAll(stage.port, one), claimAll(other, two)])).flat()
      expect(taken).toHaveLength(100)
      expect(new Set(taken).size).toBe(100)
    })

    test('a run that is woken during its claim keeps its mail', async (stage) => {
      const claimant = await stage.claimant()
      await stage.parked('a', claimant.worker)
      await Promise.all([
        stage.port.mail.send([signal('a')], null),
        stage.port.mail.send([signal('a')], null),
      ])
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([{ mail: 2 }])
    })
  })
}

async function claimAll(port: WholeStore, claimant: Claimant): Promise<string[]> {
  const taken: string[] = []
  for (let batch = await port.claims.claim(claimant, 7); batch.runs.length > 0; ) {
    taken.push(...ids(batch))
    batch = await port.claims.claim(claimant, 7)
  }
  return taken
}

function ids({ runs }: { readonly runs: readonly { readonly id: string }[] }): string[] {
  return runs.map(({ id }) => id)
}
