import { spreadOf } from '../base/statistics.ts'

/** Costs of a figure in one round: per side one value per turn. Turns with the same index belong together. */
export interface Costs {
  readonly before: readonly number[]
  readonly now: readonly number[]
  /** Another copy of `now`. */
  readonly control: readonly number[]
}

/** Ratios of several rounds. */
export interface Ratio {
  readonly median: number
  /** The middle half of the rounds is from here, */
  readonly low: number
  /** to here. */
  readonly high: number
  readonly rounds: number
}

export interface Comparison {
  /** Now divided by before; above 1 it costs more now. */
  readonly ratio: Ratio
  /** Control divided by now: the difference between two measurements of one build. */
  readonly control: Ratio
  readonly verdict: Verdict
}

export type Verdict = 'within' | 'noise' | 'beyond'

/** Maximum ratio within the limit. */
export const limit = 1.05

/**
 * Compares turn by turn, so that what the machine does meanwhile falls on all sides; the median of its turns counts
 * for a round. A figure is beyond the limit if the middle half of its rounds is, and if their median exceeds the
 * middle half of the control. It is within the limit if its median is, and that of the control as well. Otherwise
 * the noise is too great to tell.
 */
export function compare(rounds: readonly Costs[]): Comparison {
  const ratio = summarise(rounds.flatMap(({ now, before }) => divide(now, before)))
  const control = summarise(rounds.flatMap(({ now, control: copy }) => divide(copy, now)))
  return { ratio, control, verdict: assess(ratio, control) }
}

function assess(ratio: Ratio, control: Ratio): Verdict {
  const noise = Math.max(control.high, 1 / control.low)
  if (ratio.low > limit && ratio.median > noise) return 'beyond'
  const isQuiet = Math.max(control.median, 1 / control.median) <= limit
  return ratio.median <= limit && isQuiet ? 'within' : 'noise'
}

/** Of four rounds or fewer, the middle half is all of them. */
function summarise(ratios: readonly number[]): Ratio {
  const sorted = ratios.toSorted((a, b) => a - b)
  const last = sorted.length - 1
  return {
    median: spreadOf(ratios).median,
    low: sorted[Math.floor(last / 4)] ?? Number.NaN,
    high: sorted[Math.ceil((last * 3) / 4)] ?? Number.NaN,
    rounds: ratios.length,
  }
}

/** The median ratio of all turns; none if nothing was measured, or nothing was spent. */
function divide(upper: readonly number[], lower: readonly number[]): readonly number[] {
  const ratios = upper.map((value, i) => value / (lower[i] ?? Number.NaN))
  const usable = ratios.filter((ratio) => ratio > 0 && ratio < Number.POSITIVE_INFINITY)
  return usable.length === 0 ? [] : [spreadOf(usable).median]
}
