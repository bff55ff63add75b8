import { expect } from 'vitest'
import { type Choose, describePending, type Lived, live, type Procedure, recover, replay } from './trial.ts'

/** As `toEqual`, which is slow where it is asked a hundred thousand times. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) expect(actual).toEqual(expected)
}

/** Checks the law of the kernel: a live run equals its replay, at once and after a crash behind every event. */
async function expectSameEverywhere(procedure: Procedure, choose?: Choose): Promise<Lived> {
  const lived = await live(procedure, choose)
  const { trial, log, waits } = lived
  expect(trial.decision?.state).toMatch(/^(completed|failed)$/)
  expect((await replay(procedure, log.events)).account).toEqual(trial.account)
  for (const { seq } of log.events) {
    const recovered = await recover(procedure, log.events, seq)
    expect(recovered.trial.account).toEqual(trial.account)
    if (waits.has(seq)) expect(recovered.wait).toEqual(waits.get(seq))
  }
  return lived
}

/** Runs the law for every order in which the operations of a procedure can settle, up to so many. */
export async function inEveryOrder(procedure: Procedure, max = 120): Promise<readonly Lived[]> {
  const lives: Lived[] = []
  let path: { readonly of: number; chosen: number }[] = []
  do {
    let step = 0
    const choose: Choose = (pending, log) => {
      const at = step++
      path[at] ??= { of: pending.length, chosen: 0 }
      const chosen = pending[path[at].chosen]
      if (chosen === undefined)
        throw new Error(`other operations than before: ${pending.map(describePending).join()}`)
      log.settle(chosen)
    }
    lives.push(await expectSameEverywhere(procedure, choose))
    path = path.slice(0, step)
    while (path.length > 0 && path.at(-1)?.chosen === (path.at(-1)?.of ?? 0) - 1) path.pop()
    const last = path.at(-1)
    if (last !== undefined) last.chosen++
  } while (path.length > 0 && lives.length < max)
  return lives
}

/** What a run came to, with the orders that led there left out. */
export function outcomesOf(lives: readonly Lived[]): readonly string[] {
  return [...new Set(lives.map(({ trial }) => trial.account.outcome))].sort()
}
