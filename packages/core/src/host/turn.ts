import type { Turns } from '../kernel/turns.ts'
import { shareCell } from './process/wide.ts'

/** The current turn of this process; two copies of the package share it, so that they never hold a turn at once. */
export const turns: Turns = shareCell('turns', () => ({ current: null, broken: false }))

/**
 * Adds to the errors of the current run, about awaiting or calling what a procedure cannot use, which options of a library cause
 * that. Outside turns it has no effect. `advice` is a sentence without its period.
 */
export function adviseRun(advice: string): void {
  if (turns.current === null) return
  turns.current.advice ??= new Set()
  turns.current.advice.add(advice)
}
