import { type StoreCall, wrapCalls } from '@pawl/core/internal'
import type { Claimant, WholeStore } from '@pawl/core/storage'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Fleet, type FleetOptions } from './fleet.ts'

const second = 1_000
const minute = 60 * second

function start(options: FleetOptions): Fleet {
  const fleet = new Fleet(options)
  onTestFinished(() => fleet.close())
  return fleet
}

/** All but these have completed. */
function survivors(fleet: Fleet): number {
  return fleet.runs.filter(({ state }) => state === 'completed').length
}

describe('a run that kills its workers at once', () => {
  // Two deaths make suspects, one blames them all, each halves them, and `maxCrashes` are over it alone.
  const cases = [
    [1, 2 + 5],
    [2, 2 + 1 + 1 + 4],
    [16, 2 + 1 + 4 + 4],
    [100, 2 + 1 + 7 + 4],
  ] as const
  for (const [runs, deaths] of cases)
    test(`a run that kills its workers at once is quarantined after ${deaths} deaths among ${runs}, and the others complete`, async () => {
      const culprit = Math.floor(runs / 3)
      const fleet = start({ runs, stepMs: () => 20 * minute, culprits: { [culprit]: 0 } })
      await fleet.begin()
      await fleet.untilOver()
      expect(fleet.quarantined).toEqual([`${culprit}`])
      expect(fleet.deaths).toBeLessThanOrEqual(deaths)
      expect(survivors(fleet)).toBe(runs - 1)
      expect(fleet.runs[culprit]).toMatchObject({ cause: 'crashes', alone: 5 })
      expect(fleet.lines.filter((line) => line.startsWith('error'))).toEqual([
        expect.stringContaining('while it was the only suspect running'),
      ])
    })

  test('control: a run that kills its workers is not found if suspects are never told apart', async () => {
    const connect = (port: WholeStore) => takeAll(port)
    const fleet = start({ runs: 16, stepMs: () => 20 * minute, culprits: { 5: 0 }, connect })
    await fleet.begin()
    await fleet.untilOver(60)
    expect(fleet.quarantined).toEqual([])
    expect(fleet.deaths).toBe(60)
  })

  test("a run that kills its workers is quarantined after as many deaths alone as the engine's limit", async () => {
    const fleet = start({ runs: 1, stepMs: () => 0, culprits: { 0: 0 }, maxCrashes: 2 })
    await fleet.begin()
    await fleet.untilOver()
    expect([fleet.deaths, fleet.quarantined]).toEqual([4, ['0']])
  })

  test('a run that kills its workers is found by several processes, which die one by one', async () => {
    const fleet = start({ runs: 60, processes: 3, stepMs: () => 20 * minute, culprits: { 7: 0 } })
    await fleet.begin()
    await fleet.untilOver()
    expect(fleet.quarantined).toEqual(['7'])
    expect(fleet.deaths).toBeLessThanOrEqual(2 + 1 + 6 + 5)
  })
})

describe('a run that kills its workers after a while', () => {
  for (const afterMs of [3 * second, 30 * second, 5 * minute])
    test(`a run that kills its workers after ${afterMs / second} s is found, and no other is quarantined`, async () => {
      const fleet = start({ runs: 32, stepMs: () => 60 * minute, culprits: { 20: afterMs } })
      await fleet.begin()
      await fleet.untilOver()
      expect(fleet.quarantined).toEqual(['20'])
      expect(survivors(fleet)).toBe(31)
      expect(fleet.deaths).toBeLessThan(40)
    })
})

describe('several runs that kill their workers', () => {
  for (const culprits of [
    { 3: 0, 12: 0 },
    { 3: 0, 4: 0, 29: 0 },
    { 3: 0, 12: 5 * second },
  ])
    test(`several runs that kill their workers are each found, and no other is quarantined: ${JSON.stringify(culprits)}`, async () => {
      const fleet = start({ runs: 32, stepMs: () => 20 * minute, culprits })
      await fleet.begin()
      await fleet.untilOver()
      expect(fleet.quarantined).toEqual(Object.keys(culprits))
      expect(survivors(fleet)).toBe(32 - Object.keys(culprits).length)
    })
})

describe('deaths that have nothing to do with the runs', () => {
  for (const runs of [2, 3, 10, 50])
    for (const everyMs of [100, 3 * second])
      test(`ten unrelated deaths, one every ${everyMs / second} s, during one step of 30 s quarantine none of ${runs}`, async () => {
        const fleet = start({ runs, stepMs: () => 30 * second })
        await fleet.begin()
        for (let kills = 0; kills < 10; kills++) {
          await fleet.pass(everyMs)
          fleet.kill()
        }
        const killedAt = fleet.clock.now
        await fleet.untilOver()
        expect(survivors(fleet)).toBe(runs)
        // None waited long for others.
        expect(fleet.clock.now - killedAt).toBeLessThan(2 * minute)
      })

  test('a run that was alone at each death is quarantined', async () => {
    const fleet = start({ runs: 1, stepMs: () => 30 * second })
    await fleet.begin()
    for (let kills = 0; kills < 10; kills++) {
      await fleet.pass(3 * second)
      fleet.kill()
    }
    await fleet.pass(minute)
    expect(fleet.quarantined).toEqual(['0'])
  })

  test('ten thousand suspects are claimed like other runs, by ten processes, without a delay', async () => {
    const claims = async (deaths: number) => {
      let calls = 0
      const connect = (port: WholeStore) =>
        watchCalls(port, (name) => {
          if (['claims.claim', 'claims.take', 'suspects.list'].includes(name)) calls++
        })
      const fleet = start({ runs: 10_000, processes: 10, stepMs: () => minute, connect })
      await fleet.begin(deaths)
      const startedAt = fleet.clock.now
      await fleet.pass(1e6, () => fleet.owned.length === 10_000)
      expect(fleet.clock.now).toBe(startedAt)
      return calls
    }
    expect(await claims(2)).toBeLessThanOrEqual(1.1 * (await claims(0)))
  })
})

describe('suspects that were blamed', () => {
  test('blamed suspects are tested by halves, and the others run meanwhile', async () => {
    const fleet = start({ runs: 40, stepMs: (index) => (index < 8 ? 10 * minute : second) })
    await fleet.begin(3)
    const port = await fleet.connect()
    // Of 40 that three have died over, 8 were blamed by a fourth.
    const worker = await port.workers.register({ name: 'doomed', leaseMs: -1 })
    const claimant = { worker, procedures: [{ name: 'work', versions: [1] }] }
    await port.claims.take(
      claimant,
      Array.from({ length: 8 }, (_, index) => index + 1),
    )
    await port.workers.sweep()

    await fleet.pass(500)
    const inHand = () => fleet.owned.map(({ run }) => run - 1).sort((a, b) => a - b)
    // The rest is first, at once.
    expect(inHand()).toEqual(Array.from({ length: 32 }, (_, index) => index + 8))
    await fleet.pass(10 * second, () => fleet.begun.has(0))
    expect(inHand().filter((index) => index < 8)).toEqual([0, 1, 2, 3])
    const begunAt = fleet.clock.now
    await fleet.pass(10 * second, () => fleet.begun.has(7))
    expect(inHand().filter((index) => index < 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(fleet.clock.now - begunAt).toBeGreaterThanOrEqual(second)
    expect(fleet.lines).toEqual([
      'info: Testing suspects: 32 of 40 runs whose workers died up to 3 times in a row',
      'info: Testing suspects: 4 of 8 runs whose workers died up to 4 times in a row',
      'info: Testing suspects: 4 of 4 runs whose workers died up to 4 times in a row',
    ])
  })

  test('suspects that wait for their turn at one process are claimed by another at once', async () => {
    const fleet = start({ runs: 8, processes: 3, stepMs: () => 10 * minute })
    await fleet.begin(3)
    await fleet.pass(100)
    // One has half of them, the next half of what was left.
    expect(fleet.owned.length).toBeGreaterThanOrEqual(4 + 2 + 1)
  })

  test('suspects follow at once when earlier ones have made an event', async () => {
    const fleet = start({ runs: 8, stepMs: (index) => (index < 4 ? 50 : 10 * minute) })
    await fleet.begin(3)
    const startedAt = fleet.clock.now
    await fleet.pass(minute, () => fleet.begun.size === 8)
    expect(fleet.clock.now - startedAt).toBeLessThan(500)
  })
})

/** Whatever group is chosen, all suspects are taken with it. */
function takeAll(port: WholeStore): WholeStore {
  const take = async (claimant: Claimant) => {
    const all = await port.suspects.list(claimant, 10_000)
    return port.claims.take(
      claimant,
      all.map(({ run }) => run),
    )
  }
  return { ...port, claims: { ...port.claims, take } }
}

function watchCalls(port: WholeStore, onCall: (name: StoreCall) => void): WholeStore {
  return wrapCalls(port, (name, call) => (...args) => {
    onCall(name)
    return call(...args)
  })
}
