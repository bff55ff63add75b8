import { describe, expect, test } from 'vitest'
import { chooseCompared, chooseStores, readRounds } from '../../bench/against/choices.ts'
import { compare } from '../../bench/against/verdict.ts'

type Turn = readonly [before: number, now: number, control: number]

/** One turn for each round; the machine gets slower and slower. */
function compareTurns(...rounds: readonly Turn[]): ReturnType<typeof compare> {
  return compare(
    rounds.map((turn, round) => {
      const [before, now, control] = turn.map((cost) => [cost * (1 + round)])
      return { before: before!, now: now!, control: control! }
    }),
  )
}

describe('the comparison with another commit', () => {
  test('compares round by round, whatever the machine does meanwhile', () => {
    const { ratio, control } = compareTurns([10, 10.2, 10.2], [10, 10.3, 10.3], [10, 10.1, 10.1])
    expect(ratio.median).toBeCloseTo(1.02)
    expect([ratio.low, ratio.high]).toEqual([expect.closeTo(1.01), expect.closeTo(1.03)])
    expect(control.median).toBeCloseTo(1)
  })

  test('compares turn by turn in a round, and takes the median', () => {
    const { ratio } = compare([{ before: [10, 100, 10], now: [11, 110, 50], control: [11, 110, 50] }])
    expect(ratio).toMatchObject({ median: 1.1, low: 1.1, high: 1.1, rounds: 1 })
  })

  test('is beyond the limit if every round is, and the median is more than every round of the control', () => {
    expect(compareTurns([10, 10.8, 10.9], [10, 10.9, 10.8], [10, 10.7, 10.6]).verdict).toBe('beyond')
  })

  test('is within noise if a round of the control differs as much', () => {
    expect(compareTurns([10, 10.8, 10.9], [10, 10.9, 12], [10, 10.7, 10.6]).verdict).toBe('noise')
    expect(compareTurns([10, 10.8, 10.9], [10, 10.9, 9], [10, 10.7, 10.6]).verdict).toBe('noise')
  })

  test('is within noise if a round does not exceed the limit', () => {
    expect(compareTurns([10, 10.8, 10.9], [10, 10.4, 10.4], [10, 10.7, 10.6]).verdict).toBe('noise')
  })

  test('leaves a quarter of many rounds out at either end', () => {
    const turn: Turn = [10, 10.8, 10.8]
    const odd: Turn = [10, 9, 13]
    expect(compareTurns(turn, turn, turn, turn, odd).verdict).toBe('beyond')
    expect(compareTurns(turn, turn, turn, odd, odd).verdict).toBe('noise')
  })

  test('is within the limit if it costs less, or little more', () => {
    expect(compareTurns([10, 10.4, 10.4], [10, 10.4, 10.5], [10, 10.4, 10.3]).verdict).toBe('within')
    expect(compareTurns([10, 5, 5], [10, 6, 6], [10, 7, 7]).verdict).toBe('within')
  })

  test('is not said to be within the limit if the control is beyond it', () => {
    expect(compareTurns([10, 10, 10.7], [10, 10, 10.6], [10, 10, 10]).verdict).toBe('noise')
    expect(compareTurns([10, 10, 9], [10, 10, 9.1], [10, 10, 10]).verdict).toBe('noise')
  })

  test('leaves out rounds in which nothing was measured, and tells nothing without any', () => {
    const { ratio, verdict } = compareTurns([10, 10, 10], [Number.NaN, 10, 10], [0, 10, 10])
    expect([ratio.rounds, verdict]).toEqual([1, 'within'])
    expect(compareTurns([Number.NaN, 10, 10]).verdict).toBe('noise')
  })
})

describe('the choice of what is compared', () => {
  const namesOf = (...names: string[]): string[] => chooseCompared(names).map(({ name }) => name)

  test('is W1 to W7, replay and start-up by default', () => {
    const workloads = ['W1', 'W2', 'W3', 'W4', 'W5', 'W5 answer', 'W5 other process', 'W6', 'W7']
    expect(namesOf()).toEqual(expect.arrayContaining([...workloads, 'replay 10,000', 'start-up']))
    expect(namesOf()).not.toContain('answers')
  })

  test('finds names in any case, each once, and of several sizes the one that is short', () => {
    expect(namesOf('w2', 'W1', 'w1')).toEqual(['W2', 'W1'])
    expect(namesOf('w5')).toEqual(['W5', 'W5 answer', 'W5 other process'])
    expect(namesOf('replay')).toEqual(['replay 10,000'])
  })

  test('takes a case that is not compared by default if it is named', () => {
    expect(namesOf('replay 1,000')).toEqual(['replay 1,000'])
    expect(namesOf('answers')).toEqual(['answers'])
    expect(namesOf('W99')).toEqual([])
  })

  test('refuses stores and rounds that do not exist', () => {
    expect(chooseStores(undefined)).toHaveLength(2)
    expect(chooseStores('sqlite')).toHaveLength(1)
    expect(() => chooseStores('mysql')).toThrow('--store is "mysql"; it can be sqlite or postgres')
    expect(readRounds('7')).toBe(7)
    for (const given of ['0', '1.5', 'many', '']) expect(() => readRounds(given)).toThrow('--rounds')
  })
})
