import type { Claimant } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { answerTo, later, newAsk, newRun, signal } from '../builders.ts'
import { create, die, dieOver, dump, makeSuspects, releaseAll, runsOf } from '../crash-loops.ts'
import type { StageTest } from '../stage.ts'

export function describeCrashLoopClaims(test: StageTest): void {
  describe('claims of suspects', () => {
    test('claims of suspects return all of them, those without positives, or none', async (stage) => {
      const [a] = await makeSuspects(stage, ['a', 'b'])
      await dieOver(stage, [a])
      await create(stage, ['new'])
      const claimant = await stage.claimant()
      const claimIds = async (suspects: Claimant['suspects']) => {
        const { runs } = await stage.port.claims.claim({ ...claimant, ...(suspects && { suspects }) }, 10)
        await releaseAll(
          stage,
          runs.map(({ run }) => run),
          claimant,
        )
        return runs.map(({ id }) => id).sort()
      }
      expect(await claimIds('none')).toEqual(['new'])
      expect(await claimIds('unblamed')).toEqual(['b', 'new'])
      expect(await claimIds('all')).toEqual(['a', 'b', 'new'])
      expect(await claimIds(undefined)).toEqual(['a', 'b', 'new'])
    })

    test('a suspect that is left is not claimed by sending and answering', async (stage) => {
      const worker = await stage.doomedWorker()
      await stage.commit(await stage.owned('a', worker), { opens: [newAsk(3)] })
      await stage.port.workers.sweep()
      for (let deaths = 0; deaths < 2; deaths++) await die(stage)
      const claimant = { ...(await stage.claimant()), suspects: 'unblamed' as const }
      expect(await stage.port.mail.send([signal('a')], claimant)).toMatchObject([
        { outcome: 'stored', claimed: null },
      ])
      expect(await stage.port.asks.answer([answerTo('a', 3)], claimant)).toMatchObject([
        { outcome: 'answered', claimed: null },
      ])
      expect(await stage.port.mail.send([signal('a')], { ...claimant, suspects: 'all' })).toMatchObject([
        { outcome: 'stored', claimed: { id: 'a', tries: 3, positives: 1, alone: 1 } },
      ])
      expect(await dump(stage)).toMatchObject({ a: { tested: true } })
    })

    test('a suspect that is left does not block others', async (stage) => {
      await makeSuspects(stage, ['a', 'b', 'c'])
      await die(stage)
      await create(stage, ['new'])
      const claims = await stage.port.claims.claim({ ...(await stage.claimant()), suspects: 'unblamed' }, 1)
      expect(claims.runs).toMatchObject([{ id: 'new' }])
    })

    test('claims of suspects report whether one was left, and when the next other run is due', async (stage) => {
      const claimant = { ...(await stage.claimant()), suspects: 'unblamed' as const }
      await makeSuspects(stage, ['a'])
      await stage.parked('later', claimant.worker, { next: { do: 'park', wakeAt: later } })
      expect(await stage.port.claims.claim({ ...claimant, suspects: 'none' }, 10)).toMatchObject({
        runs: [],
        nextDueAt: later,
        leavesSuspects: true,
      })
      expect(await stage.port.claims.claim(claimant, 0)).toMatchObject({ runs: [], leavesSuspects: false })
      await die(stage)
      expect(await stage.port.claims.claim(claimant, 10)).toMatchObject({
        runs: [],
        nextDueAt: later,
        leavesSuspects: true,
      })
      expect(await stage.port.claims.claim({ ...claimant, suspects: 'all' }, 10)).toMatchObject({
        runs: [{ id: 'a' }],
        leavesSuspects: false,
      })
    })
  })

  describe('the list of suspects', () => {
    test('the list of suspects has the most positives first, then the longest due', async (stage) => {
      const [a, b, c] = await makeSuspects(stage, ['a', 'b', 'c'])
      await dieOver(stage, [b, c])
      await stage.passed((await stage.port.now()) + 2)
      await dieOver(stage, [c])
      const claimant = await stage.claimant()
      const expected = [
        { run: c, tries: 4, positives: 2, alone: 1, dueAt: expect.any(Number) },
        { run: b, tries: 3, positives: 1, alone: 0, dueAt: expect.any(Number) },
        { run: a, tries: 2, positives: 0, alone: 0, dueAt: expect.any(Number) },
      ]
      expect(await stage.port.suspects.list(claimant, 10)).toEqual(expected)
      expect(await stage.port.suspects.list({ ...claimant, suspects: 'none' }, 2)).toEqual(
        expected.slice(0, 2),
      )
    })

    test('the list of suspects has no owned ones, no other runs, and none that the claimant cannot execute', async (stage) => {
      const [a] = await makeSuspects(stage, ['a', 'b'])
      await create(stage, ['new'])
      const claimant = await stage.claimant()
      await stage.port.claims.take(claimant, [a])
      expect((await stage.port.suspects.list(claimant, 10)).map(({ run }) => run)).toEqual(
        await runsOf(stage, ['b']),
      )
      expect(
        await stage.port.suspects.list({ ...claimant, procedures: [{ name: 'refund', versions: [2] }] }, 9),
      ).toEqual([])
      expect(await stage.port.suspects.list({ ...claimant, procedures: [] }, 9)).toEqual([])
    })
  })

  describe('taking runs', () => {
    test('taking named suspects returns what a claim returns', async (stage) => {
      const [, b, c] = await makeSuspects(stage, ['a', 'b', 'c'])
      const claimant = { ...(await stage.claimant()), suspects: 'none' as const }
      const taken = await stage.port.claims.take(claimant, [c, b])
      expect(taken.map(({ id }) => id).sort()).toEqual(['b', 'c'])
      expect(taken).toMatchObject([{ tries: 2, positives: 0, alone: 0, version: 1, head: 1, mail: 0 }, {}])
      expect(await dump(stage)).toMatchObject({
        a: { tested: false },
        b: { tested: true },
        c: { tested: true },
      })
      const claims = await stage.port.claims.claim({ ...claimant, suspects: 'all' }, 10)
      expect(claims.runs.map(({ id }) => id)).toEqual(['a'])
    })

    test('taking suspects leaves runs that are owned, not due, ended, missing or not executable', async (stage) => {
      const claimant = await stage.claimant()
      const { worker } = claimant
      const owned = await stage.owned('owned', worker)
      const waiting = await stage.parked('waiting', worker)
      const parked = await stage.parked('later', worker, { next: { do: 'park', wakeAt: later } })
      const ended = await stage.ended('ended', worker)
      const [foreign] = await stage.port.runs.create([newRun('foreign', { procedure: 'order' })])
      const runs = [owned.run, waiting.run, parked.run, ended.run, foreign?.run ?? 0, 4711]
      expect(await stage.port.claims.take(claimant, runs)).toEqual([])
      expect(await stage.port.claims.take(claimant, [])).toEqual([])
    })

    test('a dead worker cannot take suspects', async (stage) => {
      const [a] = await makeSuspects(stage, ['a'])
      const claimant = await stage.claimant()
      await stage.port.workers.release(claimant.worker)
      expect(await stage.port.claims.take(claimant, [a])).toEqual([])
      expect(await stage.find('a')).toMatchObject({ owned: false })
    })

    test('of two workers that take the same suspect one gets it', async (stage) => {
      const [a, b] = await makeSuspects(stage, ['a', 'b'])
      const other = await stage.connect()
      const [one, two] = [await stage.claimant(), await stage.claimant()]
      const taken = await Promise.all([stage.port.claims.take(one, [a, b]), other.claims.take(two, [b, a])])
      expect(
        taken
          .flat()
          .map(({ id }) => id)
          .sort(),
      ).toEqual(['a', 'b'])
    })

    test("a suspect without a version gets the claimant's highest", async (stage) => {
      const [created] = await stage.port.runs.create([newRun('a', { version: null })])
      const claimant = await stage.claimant([{ name: 'refund', versions: [3, 12, 7] }])
      expect(await stage.port.claims.take(claimant, [created?.run ?? 0])).toMatchObject([
        { version: 12, epoch: 2 },
      ])
    })
  })
}
