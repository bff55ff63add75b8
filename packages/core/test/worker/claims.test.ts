import { expect, test } from 'vitest'
import type { Claimed, Claims as ClaimedRuns } from '../../src/ports/store/claims.ts'
import type { RunKey } from '../../src/ports/store/runs.ts'
import { Claims, type ClaimsOptions, maxOwned } from '../../src/worker/claims.ts'
import { StoreTime } from '../../src/worker/store-time.ts'
import { ManualClock, settled } from './support/manual-clock.ts'

/** Claims on a store with so many due runs; each call is answered at once unless the test holds it. */
function create({ due = 0, owned = 0 }: { readonly due?: number; readonly owned?: number } = {}) {
  const clock = new ManualClock()
  const time = new StoreTime(clock)
  const state = { due, owned, isWorking: true, nextDueAt: null as number | null, error: null as Error | null }
  const limits: number[] = []
  let looks = 0
  const errors: unknown[] = []
  const adopted: RunKey[] = []
  let hold: Promise<void> | undefined
  let key = 0
  const store = {
    claims: {
      async claim(_: unknown, limit: number): Promise<ClaimedRuns> {
        limits.push(limit)
        await hold
        if (state.error !== null) throw state.error
        const runs: Claimed[] = []
        for (; runs.length < limit && state.due > 0; state.due--)
          runs.push({ run: ++key, tries: 0 } as Claimed)
        return { runs, at: clock.elapsed(), nextDueAt: state.nextDueAt, leavesSuspects: true }
      },
    },
    suspects: {
      async list() {
        looks++
        return []
      },
    },
  }
  const claims: Claims = new Claims({
    ...{ store, clock, time, procedures: [], logger: { info: () => {} } },
    worker: () => 1,
    isWorking: () => state.isWorking,
    owned: () => state.owned,
    adopt: ({ run }: Claimed) => {
      adopted.push(run)
      state.owned++
    },
    onError: (error: unknown) => errors.push(error),
  } as unknown as ClaimsOptions)
  return {
    ...{ claims, clock, state, limits, errors, adopted },
    /** How often suspects were looked for. */
    looks: () => looks,
    /** Holds the answers of the store until the returned function is called. */
    holdAnswers(): () => void {
      let release = (): void => {}
      hold = new Promise((resolve) => {
        release = resolve
      })
      return release
    },
  }
}

test('claims until nothing is due, at most 100 at once', async () => {
  const { claims, limits, adopted } = create({ due: 250 })
  await claims.claim()
  expect(adopted).toHaveLength(250)
  expect(limits).toEqual([100, 100, 100])
})

test('claims as many runs as there is room for, and the rest once half of the room is free', async () => {
  const { claims, state, limits, adopted } = create({ due: 100, owned: maxOwned - 30 })
  await claims.claim()
  expect(limits).toEqual([30])
  expect(claims.takesWork).toBe(false)
  while (state.owned > maxOwned / 2 + 1) {
    state.owned--
    claims.onReleased(1, null)
  }
  await settled()
  expect(limits).toEqual([30])
  state.owned--
  claims.onReleased(1, null)
  await settled()
  expect(limits).toEqual([30, 100])
  expect(adopted).toHaveLength(100)
})

test('makes one claim at a time, and another one for requests that arrive meanwhile', async () => {
  const { claims, limits, holdAnswers } = create()
  const release = holdAnswers()
  const first = claims.claim()
  for (let i = 0; i < 3; i++) await claims.claim()
  expect(limits).toHaveLength(1)
  expect(claims.isClaiming).toBe(true)
  release()
  await first
  expect(limits).toHaveLength(2)
  expect(claims.isClaiming).toBe(false)
})

test('claims nothing while the worker is not working', async () => {
  const { claims, state, limits } = create({ due: 1 })
  state.isWorking = false
  await claims.claim()
  expect(claims.takesWork).toBe(false)
  expect(limits).toEqual([])
})

test('makes no further claim, even of suspects, if the worker stops during one', async () => {
  const { claims, state, limits, looks, holdAnswers } = create({ due: 300 })
  const release = holdAnswers()
  const claim = claims.claim()
  state.isWorking = false
  release()
  await claim
  expect(limits).toHaveLength(1)
  expect(looks()).toBe(0)
})

test('claims when the next run becomes due that the store has named', async () => {
  const { claims, clock, state, adopted } = create()
  state.nextDueAt = 40
  await claims.claim()
  state.due = 1
  await clock.pass(39)
  expect(adopted).toEqual([])
  await clock.pass(1)
  expect(adopted).toEqual([1])
})

test('claims a parked run when it is due, and keeps the earlier of two times', async () => {
  const { claims, clock, limits } = create()
  claims.onReleased(1, 100)
  claims.onReleased(2, 30)
  claims.onReleased(3, 60)
  await clock.pass(29)
  expect(limits).toHaveLength(0)
  await clock.pass(1)
  expect(limits).toHaveLength(1)
  expect(clock.timers).toBe(0)
})

test('looks for suspects after each claim that leaves some behind', async () => {
  const { claims, looks } = create()
  await claims.claim()
  expect(looks()).toBe(1)
})

test('sets no timer for a due run that was left behind', async () => {
  const { claims, clock, state } = create()
  await clock.pass(50)
  state.nextDueAt = 50
  await claims.claim()
  expect(clock.timers).toBe(0)
})

test('claims nothing by time after it is stopped', async () => {
  const { claims, clock, limits } = create()
  claims.onReleased(1, 100)
  claims.stop()
  await clock.pass(1_000)
  expect(limits).toEqual([])
})

test('reports a failed claim if the caller does not wait for it, and claims again the next time', async () => {
  const { claims, state, errors, adopted } = create({ due: 1 })
  state.error = new Error('the disk is full')
  claims.claimSoon()
  await settled()
  expect(errors).toEqual([state.error])
  await expect(claims.claim()).rejects.toThrow('the disk is full')
  state.error = null
  await claims.claim()
  expect(adopted).toEqual([1])
})
