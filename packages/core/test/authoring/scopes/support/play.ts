import { expect } from 'vitest'
import { Log } from '../../../kernel/support/log.ts'
import { replay, Trial } from '../../../kernel/support/trial.ts'
import { type ScopedOps, scoped } from './ops.ts'

/** What happens next: an operation of that name succeeds, or something else that the log is given. */
export type Step = string | ((log: Log, trial: Trial) => void)

/** Plays a run, step by step, and checks that its log gives the same at once. */
export async function play(
  procedure: (ctx: ScopedOps) => unknown,
  ...steps: readonly Step[]
): Promise<{ readonly trial: Trial; readonly log: Log }> {
  const log = new Log()
  const trial = new Trial(scoped(procedure))
  await trial.deliver(log.events)
  for (const step of steps) {
    const before = log.events.length
    if (typeof step === 'string') log.settle(trial.find(step))
    else step(log, trial)
    await trial.deliver(log.events.slice(before))
  }
  expect((await replay(scoped(procedure), log.events)).account).toEqual(trial.account)
  return { trial, log }
}

export const fail =
  (name: string): Step =>
  (log, trial) =>
    void log.fail(trial.find(name))
export const cancel: Step = (log) => void log.cancel()
