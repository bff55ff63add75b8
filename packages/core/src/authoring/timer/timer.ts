import { parseDuration } from '../../checks/duration.ts'
import { checkInstant } from '../../checks/options.ts'
import type { TimerOperation } from '../operations.ts'
import { readNothing } from '../results.ts'

/** Builds the operation of `ctx.sleep`. */
export function sleepFor(time: unknown): TimerOperation {
  return {
    kind: 'timer',
    name: 'sleep',
    due: { afterMs: parseDuration(time, 'time of sleep') },
    read: readNothing,
  }
}

/** Builds the operation of `ctx.sleepUntil`. */
export function sleepUntil(instant: unknown): TimerOperation {
  return {
    kind: 'timer',
    name: 'sleep',
    due: { atMs: checkInstant('instant of sleepUntil', instant).getTime() },
    read: readNothing,
  }
}
