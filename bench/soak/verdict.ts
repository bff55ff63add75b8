import { slopeOf, spreadOf } from '../base/statistics.ts'

/** A process that works for long, looked at between two pieces of work. */
export interface Sample {
  readonly minute: number
  /** Those that have ended by then. */
  readonly runs: number
  /** Both once what is garbage has been collected. */
  readonly heapMb: number
  readonly residentMb: number
  /** Open files and sockets. */
  readonly handles: number
  /** The file of the database, or all of its files; and what of its log waits to be taken over or used again. */
  readonly databaseMb: number
  readonly walMb: number
}

/** What may not grow for ever, whatever the engine has done. */
export interface Growth {
  readonly what: string
  readonly unit: string
  /** From the end of the first third to the end of all, and as much in an hour. */
  readonly grown: number
  readonly perHour: number
  /** How much it may have grown there. */
  readonly max: number
  readonly isGood: boolean
}

/**
 * How much each may grow in an hour, and how much in all where that is more: so much it moves by itself. A
 * hundred bytes of each run, or one handle a minute, are far beyond them.
 */
const bounds = {
  heap: { perHour: 5, ever: 1 },
  resident: { perHour: 60, ever: 20 },
} as const

/** The first third is left out: code is compiled and caches fill. */
export function assess(samples: readonly Sample[]): readonly Growth[] {
  const end = samples.at(-1)?.minute ?? 0
  const steady = samples.filter(({ minute }) => minute >= end / 3)
  const hours = (end - (steady[0]?.minute ?? end)) / 60
  const slopeGrowth = (
    what: string,
    value: (sample: Sample) => number,
    { perHour, ever }: { readonly perHour: number; readonly ever: number },
  ): Growth => {
    const grown = slopeOf(steady.map((sample) => [sample.minute, value(sample)])) * 60 * hours
    return bound(what, 'MB', grown, hours, Math.max(perHour * hours, ever))
  }
  return [
    slopeGrowth('heap', ({ heapMb }) => heapMb, bounds.heap),
    slopeGrowth('resident memory', ({ residentMb }) => residentMb, bounds.resident),
    bound('handles', '', growthOfHandles(steady), hours, 0),
  ]
}

function bound(what: string, unit: string, grown: number, hours: number, max: number): Growth {
  // What could not be told is not good.
  return { what, unit, grown, perHour: grown / hours, max, isGood: grown <= max }
}

/** From the median of the earlier half to that of the later: one that is open for a moment does not count. */
function growthOfHandles(steady: readonly Sample[]): number {
  const middle = Math.floor(steady.length / 2)
  const [earlier, later] = [steady.slice(0, middle), steady.slice(middle)].map((half) =>
    spreadOf(half.map(({ handles }) => handles)),
  )
  return (later?.median ?? Number.NaN) - (earlier?.median ?? Number.NaN)
}

/** Bytes in the database for a run that has ended: a log is kept, so this is as it should be. */
export function diskPerRun(samples: readonly Sample[]): number {
  const [first, last] = [samples[Math.floor(samples.length / 3)], samples.at(-1)]
  if (first === undefined || last === undefined) return Number.NaN
  return ((last.databaseMb - first.databaseMb) * 2 ** 20) / (last.runs - first.runs)
}
