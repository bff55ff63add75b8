import { expect, test } from 'vitest'
import type { Claimant, Claimed } from '../../../src/ports/store/claims.ts'
import type { RunKey } from '../../../src/ports/store/runs.ts'
import type { Suspect } from '../../../src/ports/store/suspects.ts'
import { CrashLoopTests } from '../../../src/worker/crash-loops/crash-loop-tests.ts'

type Options = ConstructorParameters<typeof CrashLoopTests>[0]

const claimant: Claimant = { worker: 1, procedures: [] }

function suspect(run: RunKey, positives: number, rest: Partial<Suspect> = {}): Suspect {
  return { run, tries: 2 + positives, positives, alone: 0, dueAt: positives, ...rest }
}

/** Tests on a store that has these suspects waiting. Those in `refused` cannot be taken. */
function create(waiting: Suspect[], refused: readonly RunKey[] = []) {
  let now = 0
  const timers: { readonly at: number; readonly callback: () => void }[] = []
  const calls: string[] = []
  const turns: number[] = []
  let isFailing = false
  const suspects = {
    async list() {
      calls.push('suspects')
      return [...waiting].sort((a, b) => b.positives - a.positives || a.dueAt - b.dueAt)
    },
    async endTest() {
      if (isFailing) throw new Error('the disk is full')
      calls.push('end')
    },
  }
  const claims = {
    async take(_: Claimant, runs: readonly RunKey[]) {
      const taken = waiting.filter(({ run }) => runs.includes(run) && !refused.includes(run))
      calls.push(`take ${taken.map(({ run }) => run).join()}`)
      waiting = waiting.filter((one) => !taken.includes(one))
      return taken as unknown as readonly Claimed[]
    },
  }
  const clock = {
    elapsed: () => now,
    after: (ms: number, callback: () => void) => {
      const timer = { at: now + ms, callback }
      timers.push(timer)
      return () => void timers.splice(timers.indexOf(timer), 1)
    },
  }
  const logger = { info: () => {} }
  const tests = new CrashLoopTests({ store: { suspects, claims }, clock, logger } as unknown as Options, () =>
    turns.push(now),
  )
  return {
    ...{ tests, calls, turns },
    next: async (room = 100) =>
      (await tests.takeNext(claimant, { leavesSuspects: waiting.length > 0 }, room)).map(({ run }) => run),
    pass(ms: number) {
      now += ms
      for (const timer of timers.filter(({ at }) => at <= now)) {
        timers.splice(timers.indexOf(timer), 1)
        timer.callback()
      }
    },
    fail: (fails: boolean) => {
      isFailing = fails
    },
  }
}

test('tests the rest, then half of the group with the most positives, then its other half', async () => {
  const { next, pass, turns, calls, tests } = create([
    ...[1, 2].map((run) => suspect(run, 1)),
    ...[3, 4, 5].map((run) => suspect(run, 2)),
  ])
  expect(tests.claims).toBe('unblamed')
  expect(await next()).toEqual([1, 2])
  expect(tests.claims).toBe('none')
  expect(await next()).toEqual([])
  // The period of runs with three tries.
  pass(1_249)
  expect(turns).toEqual([])
  pass(1)
  expect(turns).toEqual([1_250])
  expect(await next()).toEqual([3, 4])
  pass(10_000)
  expect(await next()).toEqual([5])
  pass(10_000)
  expect(await next()).toEqual([])
  expect(calls.filter((call) => call === 'end')).toHaveLength(3)
  expect(tests.claims).toBe('unblamed')
})

test('tests the next group at once when all runs of the previous one have made an event or are gone', async () => {
  const { next, turns, tests } = create([1, 2, 3, 4].map((run) => suspect(run, 1)))
  expect(await next()).toEqual([1, 2])
  tests.remove(1)
  expect(turns).toEqual([])
  tests.remove(2)
  expect(turns).toEqual([0])
  expect(await next()).toEqual([3, 4])
})

test('tests a run that is alone before and after the rest, in turn', async () => {
  const rest = [1, 2].map((run) => suspect(run, 1))
  const before = create([...rest, suspect(3, 4, { alone: 2 })])
  expect(await before.next()).toEqual([3])
  const after = create([...rest, suspect(3, 4, { alone: 3 })])
  expect(await after.next()).toEqual([1, 2])
})

test('groups runs blamed by one death, and tests the oldest group with equal positives first', async () => {
  const { next, pass } = create([
    ...[1, 2].map((run) => suspect(run, 3, { dueAt: 20 })),
    ...[3, 4].map((run) => suspect(run, 3, { dueAt: 10 })),
  ])
  const seen: RunKey[][] = []
  for (let turns = 0; turns < 4; turns++) {
    seen.push(await next())
    pass(10_000)
  }
  expect(seen).toEqual([[3], [4], [1], [2]])
})

test('skips runs that cannot be claimed: other runs wait for their turn', async () => {
  const { next } = create([suspect(1, 1), suspect(2, 1), suspect(3, 5)], [3])
  expect(await next()).toEqual([1])
})

test('claims as many suspects as there is room for', async () => {
  const { next, pass, calls } = create([1, 2, 3, 4, 5, 6].map((run) => suspect(run, 1)))
  expect(await next(0)).toEqual([])
  expect(calls).toEqual([])
  expect(await next(2)).toEqual([1, 2])
  pass(10_000)
  expect(await next()).toEqual([3, 4, 5, 6])
})

test('leaves suspects that were never blamed to ordinary claims', async () => {
  const { next, tests } = create([suspect(1, 0), suspect(2, 0)])
  expect(await next()).toEqual([])
  expect(tests.claims).toBe('unblamed')
})

test('looks once a second for suspects that this worker cannot execute', async () => {
  const { tests, calls, pass } = create([])
  const look = () => tests.takeNext(claimant, { leavesSuspects: true }, 100)
  for (let looks = 0; looks < 5; looks++) await look()
  expect(calls).toEqual(['suspects'])
  pass(1_000)
  await look()
  expect(calls).toEqual(['suspects', 'suspects'])
})

test('writes the end of a test with the next claim if it could not be written', async () => {
  const { next, pass, fail, calls } = create([suspect(1, 1), suspect(2, 1)])
  expect(await next()).toEqual([1])
  pass(10_000)
  fail(true)
  await expect(next()).rejects.toThrow('the disk is full')
  fail(false)
  expect(await next()).toEqual([2])
  expect(calls).toEqual(['suspects', 'take 1', 'end', 'suspects', 'take 2'])
})

test('ends the test of the following group after a run outlived its test, even if no other run waits', async () => {
  const { next, pass, calls, turns } = create([suspect(1, 1), suspect(2, 1)])
  await next()
  pass(10_000)
  expect(await next()).toEqual([2])
  pass(1_250)
  expect(turns).toEqual([10_000, 11_250])
  await next()
  expect(calls.filter((call) => call === 'end')).toHaveLength(2)
})
