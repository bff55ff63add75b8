import { describe, expect, test } from 'vitest'
import { nextRound, Rounds, type Task } from '../../src/host/rounds.ts'

// A round has room for 1,000 rows.

/** Returns the current round of the event loop, from 1. Called before anything else, it counts first in each round. */
function countRounds(): () => number {
  let round = 0
  const count = (): void => void (round++ < 20 && setImmediate(count))
  count()
  return () => round
}

describe('a round of the event loop', () => {
  test('admits callers until there is no room for another one, in order', async () => {
    const round = countRounds()
    const rounds = new Rounds()
    const admitted = Array.from({ length: 8 }, async () => {
      await rounds.enter(300)
      return round()
    })
    expect(await Promise.all(admitted)).toEqual([1, 1, 1, 2, 2, 2, 3, 3])
  })

  test('admits a caller with more work than a round has room for, alone', async () => {
    const round = countRounds()
    const rounds = new Rounds()
    const admitted = [5_000, 1, 5_000].map(async (work) => {
      await rounds.enter(work)
      return round()
    })
    expect(await Promise.all(admitted)).toEqual([1, 2, 3])
  })

  test('admits a caller synchronously while there is room, and again in the next round', async () => {
    const rounds = new Rounds()
    expect(rounds.enter(1_000)).toBeUndefined()
    const second = rounds.enter(1_000)
    expect(second).toBeInstanceOf(Promise)
    await second
    await nextRound()
    expect(rounds.enter(1_000)).toBeUndefined()
  })

  test('runs tasks that fit together, and counts their actual work instead of the estimate', async () => {
    const round = countRounds()
    const rounds = new Rounds()
    const ran: [task: string, round: number][] = []
    const add = (task: string, weight: number, work = weight): void =>
      rounds.add({
        weigh: () => weight,
        run: () => {
          ran.push([task, round()])
          return work
        },
      })
    add('a', 500)
    add('b', 500, 100)
    add('c', 400)
    add('d', 1)
    await nextRound()
    await nextRound()
    expect(ran).toEqual([
      ['a', 2],
      ['b', 2],
      ['c', 2],
      ['d', 3],
    ])
  })

  test('leaves a task that is added by another task to the next round', async () => {
    const round = countRounds()
    const rounds = new Rounds()
    const ran: number[] = []
    const again = (left: number): void =>
      rounds.add({
        weigh: () => 1,
        run: () => {
          ran.push(round())
          if (left > 1) again(left - 1)
          return 1
        },
      })
    again(3)
    for (let i = 0; i < 5; i++) await nextRound()
    expect(ran).toEqual([2, 3, 4])
  })

  test('runs the other tasks when one of them throws, and rethrows its error', async () => {
    const rounds = new Rounds()
    const listeners = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    const thrown = new Promise<unknown>((resolve) => process.once('uncaughtException', resolve))
    const failing: Task = {
      weigh: () => 1,
      run: () => {
        throw new Error('broken')
      },
    }
    let ran = 0
    rounds.add(failing)
    rounds.add({ weigh: () => 1, run: () => ++ran })
    expect(await thrown).toEqual(new Error('broken'))
    for (const listener of listeners) process.on('uncaughtException', listener)
    expect(ran).toBe(1)
  })
})
