import type { Claimant, Claimed, RunKey } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { answerTo, later, newAsk, newRun, type Standing, signal } from '../builders.ts'
import type { Stage, StageTest } from '../stage.ts'

const procedures = [{ name: 'refund', versions: [1] }]

export function describeSuspects(test: StageTest): void {
  describe('suspects', () => {
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
      await stage.port.claim(claimant, 10)
      await stage.port.endTest(claimant.worker)
      expect(await dump(stage)).toMatchObject({ a: { positives: 1, tested: false } })
      await stage.port.sweep()
      expect(await dump(stage)).toMatchObject({
        a: { tries: 4, positives: 1, alone: 0 },
        b: { tries: 4, positives: 1, alone: 0 },
      })
    })

    test('the end of a test applies to one worker', async (stage) => {
      await makeSuspects(stage, ['a', 'b'])
      const [one, two] = [await doomed(stage), await doomed(stage)]
      await stage.port.claim(one, 1)
      await stage.port.claim(two, 1)
      await stage.port.endTest(one.worker)
      await stage.port.sweep()
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
      await stage.port.take(claimant, [a])
      await stage.port.endTest(claimant.worker)
      await stage.port.take(claimant, [b])
      await stage.port.sweep()
      expect(await dump(stage)).toMatchObject({
        a: { tries: 4, positives: 1, alone: 0 },
        b: { tries: 3, positives: 1, alone: 1 },
      })
    })

    test('a graceful stop keeps the counts', async (stage) => {
      await makeSuspects(stage, ['a'])
      await die(stage)
      const claimant = await stage.claimant()
      await stage.port.claim(claimant, 10)
      await stage.port.release(claimant.worker)
      await stage.port.sweep()
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
      const [claimed] = (await stage.port.claim(claimant, 1)).runs
      await stage.port.mark(
        claimant.worker,
        claimed?.run ?? 0,
        claimed?.epoch ?? 0,
        'quarantined',
        why,
        'crashes',
      )
      await stage.port.retry(claimed?.run ?? 0, 'quarantined')
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
      const found = await stage.port.suspects(await stage.claimant(), 10)
      expect(found.map(({ run }) => run)).toEqual([a, b, c, d])
      const [first, second, third, fourth] = found.map(({ dueAt }) => dueAt)
      expect(second).toBe(first)
      expect(fourth).toBe(third)
      expect(third).toBeGreaterThan(first ?? 0)
    })
  })

  describe('claims of suspects', () => {
    test('claims of suspects return all of them, those without positives, or none', async (stage) => {
      const [a] = await makeSuspects(stage, ['a', 'b'])
      await dieOver(stage, [a])
      await create(stage, ['new'])
      const claimant = await stage.claimant()
      const claimIds = async (suspects: Claimant['suspects']) => {
        const { runs } = await stage.port.claim({ ...claimant, ...(suspects && { suspects }) }, 10)
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
      await stage.port.sweep()
      for (let deaths = 0; deaths < 2; deaths++) await die(stage)
      const claimant = { ...(await stage.claimant()), suspects: 'unblamed' as const }
      expect(await stage.port.send([signal('a')], claimant)).toMatchObject([
        { outcome: 'stored', claimed: null },
      ])
      expect(await stage.port.answer([answerTo('a', 3)], claimant)).toMatchObject([
        { outcome: 'answered', claimed: null },
      ])
      expect(await stage.port.send([signal('a')], { ...claimant, suspects: 'all' })).toMatchObject([
        { outcome: 'stored', claimed: { id: 'a', tries: 3, positives: 1, alone: 1 } },
      ])
      expect(await dump(stage)).toMatchObject({ a: { tested: true } })
    })

    test('a suspect that is left does not block others', async (stage) => {
      await makeSuspects(stage, ['a', 'b', 'c'])
      await die(stage)
      await create(stage, ['new'])
      const claims = await stage.port.claim({ ...(await stage.claimant()), suspects: 'unblamed' }, 1)
      expect(claims.runs).toMatchObject([{ id: 'new' }])
    })

    test('claims of suspects report whether one was left, and when the next other run is due', async (stage) => {
      const claimant = { ...(await stage.claimant()), suspects: 'unblamed' as const }
      await makeSuspects(stage, ['a'])
      await stage.parked('later', claimant.worker, { next: { do: 'park', wakeAt: later } })
      expect(await stage.port.claim({ ...claimant, suspects: 'none' }, 10)).toMatchObject({
        runs: [],
        nextDueAt: later,
        leavesSuspects: true,
      })
      expect(await stage.port.claim(claimant, 0)).toMatchObject({ runs: [], leavesSuspects: false })
      await die(stage)
      expect(await stage.port.claim(claimant, 10)).toMatchObject({
        runs: [],
        nextDueAt: later,
        leavesSuspects: true,
      })
      expect(await stage.port.claim({ ...claimant, suspects: 'all' }, 10)).toMatchObject({
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
      expect(await stage.port.suspects(claimant, 10)).toEqual(expected)
      expect(await stage.port.suspects({ ...claimant, suspects: 'none' }, 2)).toEqual(expected.slice(0, 2))
    })

    test('the list of suspects has no owned ones, no other runs, and none that the claimant cannot execute', async (stage) => {
      await makeSuspects(stage, ['a', 'b'])
      await create(stage, ['new'])
      const claimant = await stage.claimant()
      await stage.port.claim(claimant, 1)
      expect((await stage.port.suspects(claimant, 10)).map(({ run }) => run)).toEqual(
        await runsOf(stage, ['b']),
      )
      expect(
        await stage.port.suspects({ ...claimant, procedures: [{ name: 'refund', versions: [2] }] }, 9),
      ).toEqual([])
      expect(await stage.port.suspects({ ...claimant, procedures: [] }, 9)).toEqual([])
    })
  })

  describe('taking runs', () => {
    test('taking named suspects returns what a claim returns', async (stage) => {
      const [, b, c] = await makeSuspects(stage, ['a', 'b', 'c'])
      const claimant = { ...(await stage.claimant()), suspects: 'none' as const }
      const taken = await stage.port.take(claimant, [c, b])
      expect(taken.map(({ id }) => id).sort()).toEqual(['b', 'c'])
      expect(taken).toMatchObject([{ tries: 2, positives: 0, alone: 0, version: 1, head: 1, mail: 0 }, {}])
      expect(await dump(stage)).toMatchObject({
        a: { tested: false },
        b: { tested: true },
        c: { tested: true },
      })
      const claims = await stage.port.claim({ ...claimant, suspects: 'all' }, 10)
      expect(claims.runs.map(({ id }) => id)).toEqual(['a'])
    })

    test('taking suspects leaves runs that are owned, not due, ended, missing or not executable', async (stage) => {
      const claimant = await stage.claimant()
      const { worker } = claimant
      const owned = await stage.owned('owned', worker)
      const waiting = await stage.parked('waiting', worker)
      const parked = await stage.parked('later', worker, { next: { do: 'park', wakeAt: later } })
      const ended = await stage.ended('ended', worker)
      const [foreign] = await stage.port.create([newRun('foreign', { procedure: 'order' })])
      const runs = [owned.run, waiting.run, parked.run, ended.run, foreign?.run ?? 0, 4711]
      expect(await stage.port.take(claimant, runs)).toEqual([])
      expect(await stage.port.take(claimant, [])).toEqual([])
    })

    test('a dead worker cannot take suspects', async (stage) => {
      const [a] = await makeSuspects(stage, ['a'])
      const claimant = await stage.claimant()
      await stage.port.release(claimant.worker)
      expect(await stage.port.take(claimant, [a])).toEqual([])
      expect(await stage.find('a')).toMatchObject({ owned: false })
    })

    test('of two workers that take the same suspect one gets it', async (stage) => {
      const [a, b] = await makeSuspects(stage, ['a', 'b'])
      const other = await stage.connect()
      const [one, two] = [await stage.claimant(), await stage.claimant()]
      const taken = await Promise.all([stage.port.take(one, [a, b]), other.take(two, [b, a])])
      expect(
        taken
          .flat()
          .map(({ id }) => id)
          .sort(),
      ).toEqual(['a', 'b'])
    })

    test("a suspect without a version gets the claimant's highest", async (stage) => {
      const [created] = await stage.port.create([newRun('a', { version: null })])
      const claimant = await stage.claimant([{ name: 'refund', versions: [3, 12, 7] }])
      expect(await stage.port.take(claimant, [created?.run ?? 0])).toMatchObject([{ version: 12, epoch: 2 }])
    })
  })
}

const why = new Uint8Array([1])

/** Creates a run for each id. */
type Keys<Ids extends readonly string[]> = { readonly [Index in keyof Ids]: RunKey }

async function create<const Ids extends readonly string[]>(stage: Stage, ids: Ids): Promise<Keys<Ids>> {
  await stage.port.create(ids.map((id) => newRun(id)))
  return runsOf(stage, ids)
}

async function runsOf<const Ids extends readonly string[]>(stage: Stage, ids: Ids): Promise<Keys<Ids>> {
  const runs = await Promise.all(ids.map(async (id) => (await stage.find(id)).run))
  return runs as { [Index in keyof Ids]: RunKey }
}

/** Registers a worker that is dead at the next sweep. */
async function doomed(stage: Stage): Promise<Claimant> {
  return { worker: await stage.doomedWorker(), procedures }
}

function claim(stage: Stage) {
  return stage.claimant().then((claimant) => stage.port.claim(claimant, 10))
}

/** Lets a worker claim all due runs and die. Runs in `moving` have committed an event. */
async function die(stage: Stage, moving: readonly string[] = []): Promise<void> {
  const claimant = await doomed(stage)
  const { runs } = await stage.port.claim(claimant, 5_000)
  for (const claimed of runs)
    if (moving.includes(claimed.id)) await stage.commit(standingOf(claimed, claimant))
  await stage.port.sweep()
}

/** Lets a worker claim these runs and die. */
async function dieOver(stage: Stage, runs: readonly RunKey[]): Promise<void> {
  await stage.port.take(await doomed(stage), runs)
  await stage.port.sweep()
}

/** Creates runs whose owner died twice. */
async function makeSuspects<const Ids extends readonly string[]>(stage: Stage, ids: Ids): Promise<Keys<Ids>> {
  const runs = await create(stage, ids)
  for (let deaths = 0; deaths < 2; deaths++) await die(stage)
  return runs
}

/** Releases runs like a graceful stop; `owner` continues. */
async function releaseAll(stage: Stage, runs: readonly RunKey[], owner?: Claimant): Promise<void> {
  const owners = (await stage.dump()).runs.filter(({ run }) => runs.includes(run)).map(({ worker }) => worker)
  for (const worker of new Set(owners)) if (worker !== null) await stage.port.release(worker)
  if (owner !== undefined) Object.assign(owner, { worker: await stage.worker() })
}

function standingOf({ run, id, epoch, head, mail }: Claimed, { worker }: Claimant): Standing {
  return { run, id, worker, epoch, head, seen: mail }
}

type Dumped = Readonly<Record<string, { tries: number; positives: number; alone: number; tested: boolean }>>

async function dump(stage: Stage): Promise<Dumped> {
  const { runs } = await stage.dump()
  return Object.fromEntries(
    runs.map(({ id, tries, positives, alone, tested }) => [id, { tries, positives, alone, tested }]),
  )
}
