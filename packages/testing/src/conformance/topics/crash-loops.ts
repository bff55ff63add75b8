import { describe, expect } from 'vitest'
import { bytes, unitFor } from '../builders.ts'
import {
  claim,
  create,
  die,
  dieOver,
  doomed,
  dump,
  makeSuspects,
  releaseAll,
  runsOf,
  why,
} from '../crash-loops.ts'
import type { StageTest } from '../stage.ts'

export function describeCrashLoops(test: StageTest): void {
  describe('crash loops', () => {
    test('a run is a suspect, and tested, from the second death on', async (stage) => {
      const [a] = await create(stage, ['a'])
      expect(await dump(stage)).toEqual({ a: { tries: 0, positives: 0, alone: 0, tested: false } })
      await die(stage)
      expect((await claim(stage)).runs).toMatchObject([{ tries: 1, positives: 0, alone: 0 }])
      expect(await dump(stage)).toMatchObject({ a: { tries: 1, tested: false } })
      await releaseAll(stage, [a])
      await die(stage)
      expect((await claim(stage)).runs).toMatchObject([{ tries: 2, positives: 0, alone: 0 }])
      expect(await dump(stage)).toMatchObject({ a: { tries: 2, positives: 0, alone: 0, tested: true } })
    })

    test('a unit without an event that keeps the run does not clear its deaths, and one with an event does', async (stage) => {
      await create(stage, ['a'])
      await die(stage)
      const claimant = await stage.claimant()
      const { worker } = claimant
      const [claimed] = (await stage.port.claims.claim(claimant, 1)).runs
      if (claimed === undefined) throw new Error('no run is due')
      expect(claimed).toMatchObject({ tries: 1 })
      const { run, id, epoch, head } = claimed
      const standing = { run, id, worker, epoch, head, seen: 0 }
      const states = [{ name: 'sum', payload: bytes('1') }]
      for (const parts of [{ events: [], states }, { events: [] }])
        expect(await stage.port.log.commit(worker, [unitFor(standing, parts)])).toMatchObject([
          { outcome: 'ok' },
        ])
      expect(await dump(stage)).toMatchObject({ a: { tries: 1 } })
      expect(await stage.port.log.commit(worker, [unitFor(standing)])).toMatchObject([{ outcome: 'ok' }])
      expect(await dump(stage)).toMatchObject({ a: { tries: 0 } })
    })

    test('the death of their worker is positive for all that it tests', async (stage) => {
      await makeSuspects(stage, ['a', 'b'])
      await die(stage)
      expect((await claim(stage)).runs).toMatchObject([
        { id: 'a', tries: 3, positives: 1, alone: 0 },
        { id: 'b', tries: 3, positives: 1, alone: 0 },
      ])
    })

    test('a run tested alone is blamed alone, repeatedly', async (stage) => {
      await makeSuspects(stage, ['a'])
      for (let deaths = 1; deaths <= 3; deaths++) {
        await die(stage)
        expect((await dump(stage))['a']).toEqual({
          tries: 2 + deaths,
          positives: deaths,
          alone: deaths,
          tested: false,
        })
      }
    })

    test('a run with a new event is no longer a suspect, and the other was tested alone', async (stage) => {
      await makeSuspects(stage, ['a', 'b'])
      await die(stage, ['a'])
      expect(await dump(stage)).toMatchObject({
        a: { tries: 1, positives: 0, alone: 0 },
        b: { tries: 3, positives: 1, alone: 1 },
      })
    })

    test('a run owned beside the tested ones is not blamed', async (stage) => {
      await makeSuspects(stage, ['a'])
      await create(stage, ['new'])
      await die(stage)
      expect(await dump(stage)).toMatchObject({
        a: { tries: 3, positives: 1, alone: 1 },
        new: { tries: 1, positives: 0, alone: 0 },
      })
    })

    test('a test that has ended blames no run for a later death', async (stage) => {
      await makeSuspects(stage, ['a', 'b'])
      await die(stage)
      const claimant = await doomed(stage)
      await stage.port.claims.claim(claimant, 10)
      await stage.port.suspects.endTest(claimant.worker)
      expect(await dump(stage)).toMatchObject({ a: { positives: 1, tested: false } })
      await stage.port.workers.sweep()
      expect(await dump(stage)).toMatchObject({
        a: { tries: 4, positives: 1, alone: 0 },
        b: { tries: 4, positives: 1, alone: 0 },
      })
    })

    test('the end of a test applies to one worker', async (stage) => {
      await makeSuspects(stage, ['a', 'b'])
      const [one, two] = [await doomed(stage), await doomed(stage)]
      await stage.port.claims.claim(one, 1)
      await stage.port.claims.claim(two, 1)
      await stage.port.suspects.endTest(one.worker)
      await stage.port.workers.sweep()
      expect(await dump(stage)).toMatchObject({
        a: { tries: 3, positives: 0, alone: 0 },
        b: { tries: 3, positives: 1, alone: 1 },
      })
    })

    test('the death over a later group clears a run that outlived its test alone', async (stage) => {
      await makeSuspects(stage, ['a', 'b'])
      const [a, b] = await runsOf(stage, ['a', 'b'])
      await dieOver(stage, [a])
      expect(await dump(stage)).toMatchObject({ a: { positives: 1, alone: 1 }, b: { positives: 0 } })
      const claimant = await doomed(stage)
      await stage.port.claims.take(claimant, [a])
      await stage.port.suspects.endTest(claimant.worker)
      await stage.port.claims.take(claimant, [b])
      await stage.port.workers.sweep()
      expect(await dump(stage)).toMatchObject({
        a: { tries: 4, positives: 1, alone: 0 },
        b: { tries: 3, positives: 1, alone: 1 },
      })
    })

    test('a graceful stop keeps the counts', async (stage) => {
      await makeSuspects(stage, ['a'])
      await die(stage)
      const claimant = await stage.claimant()
      await stage.port.claims.claim(claimant, 10)
      await stage.port.workers.release(claimant.worker)
      await stage.port.workers.sweep()
      expect(await dump(stage)).toEqual({ a: { tries: 3, positives: 1, alone: 1, tested: false } })
    })

    test('a run that becomes a suspect again starts at zero', async (stage) => {
      await makeSuspects(stage, ['a'])
      await die(stage)
      await die(stage, ['a'])
      for (let deaths = 0; deaths < 2; deaths++) await die(stage)
      expect(await dump(stage)).toMatchObject({ a: { tries: 3, positives: 1, alone: 1 } })
    })

    test('a released quarantine starts at zero', async (stage) => {
      await makeSuspects(stage, ['a'])
      await die(stage)
      const claimant = await stage.claimant()
      const [claimed] = (await stage.port.claims.claim(claimant, 1)).runs
      await stage.port.runs.mark(
        claimant.worker,
        claimed?.run ?? 0,
        claimed?.epoch ?? 0,
        'quarantined',
        why,
        'crashes',
      )
      await stage.port.runs.retry(claimed?.run ?? 0, 'quarantined')
      expect(await dump(stage)).toEqual({ a: { tries: 0, positives: 0, alone: 0, tested: false } })
      for (let deaths = 0; deaths < 2; deaths++) await die(stage)
      expect(await dump(stage)).toMatchObject({ a: { tries: 2, positives: 0, alone: 0 } })
    })

    test('if a sweep hands back only part of the runs, none counts as tested alone', async (stage) => {
      const ids = Array.from({ length: 2_001 }, (_, index) => `run ${index}`)
      await makeSuspects(stage, ids)
      await die(stage)
      const runs = Object.values(await dump(stage))
      expect(runs).toHaveLength(ids.length)
      expect(new Set(runs.map(({ tries, positives, alone }) => `${tries} ${positives} ${alone}`))).toEqual(
        new Set(['3 1 0']),
      )
    })

    test('runs blamed for one death have the same due time', async (stage) => {
      await makeSuspects(stage, ['a', 'b', 'c', 'd'])
      const [a, b, c, d] = await runsOf(stage, ['a', 'b', 'c', 'd'])
      await dieOver(stage, [a, b])
      await stage.passed((await stage.port.now()) + 2)
      await dieOver(stage, [c, d])
      const found = await stage.port.suspects.list(await stage.claimant(), 10)
      expect(found.map(({ run }) => run)).toEqual([a, b, c, d])
      const [first, second, third, fourth] = found.map(({ dueAt }) => dueAt)
      expect(second).toBe(first)
      expect(fourth).toBe(third)
      expect(third).toBeGreaterThan(first ?? 0)
    })
  })
}
