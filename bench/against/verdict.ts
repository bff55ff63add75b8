import { type Spread, spreadOf } from '../base/statistics.ts'

/** What a figure costs in one round: on each side a value for each turn, and turns with the same index belong together. */
export interface Costs {
  readonly before: readonly number[]
  readonly now: readonly number[]
  /** Another copy of `now`. */
  readonly control: readonly number[]
}

export interface Comparison {
  /** Now over before; above 1 it costs more now. */
  readonly ratio: Spread
  /** Control over now: how far two measurements of one thing are apart. */
  readonly control: Spread
  readonly verdict: Verdict
}

export type Verdict = 'within' | 'noise' | 'beyond'

/** How much more something may cost. */
export const limit = 1.05

/**
 * Compares turn by turn, so that what the machine does meanwhile falls on all sides; the median of its turns counts
 * for a round. It costs more if the median of the rounds exceeds the limit and every round of the control. It is
 * within the limit if the median is, and that of the control as well; else the noise is too great to tell.
 */
export function compare(rounds: readonly Costs[]): Comparison {
  const ratio = spreadOf(rounds.flatMap(({ now, before }) => divide(now, before)))
  const control = spreadOf(rounds.flatMap(({ now, control: copy }) => divide(copy, now)))
  return { ratio, control, verdict: judge(ratio, control) }
}

function judge(ratio: Spread, control: Spread): Verdict {
  const noise = Math.max(control.max, 1 / control.min)
  if (ratio.median > Math.max(limit, noise)) return 'beyond'
  const isQuiet = Math.max(control.median, 1 / control.median) <= limit
  return ratio.median <= limit && isQuiet ? 'within' : 'noise'
}

/** The median ratio of all turns; none if nothing was measured, or nothing was spent. */
function divide(upper: readonly number[], lower: readonly number[]): readonly number[] {
  const ratios = upper.map((value, i) => value / (lower[i] ?? Number.NaN))
  const usable = ratios.filter((ratio) => ratio > 0 && ratio < Number.POSITIVE_INFINITY)
  return usable.length === 0 ? [] : [spreadOf(usable).median]
}
