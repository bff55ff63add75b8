import { expect, test } from 'vitest'
import { retrying } from '../../src/worker/retrying.ts'

/** A clock whose timers fire when the test wants. */
function manualClock(): {
  readonly timers: { readonly ms: number; fire(): void }[]
  after(ms: number, callback: () => void): () => void
} {
  const timers: { readonly ms: number; fire(): void }[] = []
  return {
    timers,
    after(ms, callback) {
      const timer = { ms, fire: callback }
      timers.push(timer)
      return () => void timers.splice(timers.indexOf(timer), 1)
    },
  }
}

/** A task with these outcomes, one per call. */
function outcomes<T>(...all: readonly (T | Error)[]): () => Promise<T> {
  const left = [...all]
  return async () => {
    const next = left.shift() as T | Error
    if (next instanceof Error) throw next
    return next
  }
}

const round = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('resolves with the result of the first try that succeeds', async () => {
  const clock = manualClock()
  const failed: unknown[] = []
  const policy = { afterMs: 500, isRetried: (error: unknown) => failed.push(error) > 0 }
  const result = retrying(clock, policy, outcomes(new Error('1'), new Error('2'), 'done'))
  for (const count of [1, 2]) {
    await round()
    expect(failed).toHaveLength(count)
    expect(clock.timers.at(-1)?.ms).toBe(500)
    clock.timers.at(-1)?.fire()
  }
  expect(await result).toBe('done')
})

test('throws an error that the policy does not retry', async () => {
  const policy = { afterMs: 500, isRetried: () => false }
  await expect(retrying(manualClock(), policy, outcomes(new Error('broken')))).rejects.toThrow('broken')
})

test('does not try again once it is over or called off', async () => {
  for (const how of ['over before the wait', 'over after the wait', 'called off'] as const) {
    const clock = manualClock()
    let tries = 0
    let isOver = false
    let callOff = (): void => {}
    const settled: string[] = []
    const policy = {
      afterMs: 500,
      isRetried: () => true,
      isOver: () => isOver,
      onWait: (given: () => void) => {
        callOff = given
      },
    }
    const task = async (): Promise<never> => {
      tries++
      isOver = how === 'over before the wait'
      throw new Error('no')
    }
    retrying(clock, policy, task).then(
      () => settled.push('resolved'),
      () => settled.push('rejected'),
    )
    await round()
    if (how === 'called off') callOff()
    isOver = how !== 'called off'
    for (const timer of clock.timers) timer.fire()
    await round()
    expect({ how, tries, settled, timers: how === 'over after the wait' ? 0 : clock.timers.length }).toEqual({
      how,
      tries: 1,
      settled: [],
      timers: 0,
    })
  }
})
