import type { Measured } from '../measure.ts'
import { show } from './numbers.ts'

/** What an event costs in the longest log, over what it costs in the shortest: 1 where the cost is flat. */
export function tellGrowth(measured: readonly Measured[]): string | null {
  const replays = measured
    .filter((one) => one.role === 'replay' && costOf(one) > 0)
    .toSorted((a, b) => (a.size ?? 0) - (b.size ?? 0))
  const [shortest, longest] = [replays[0], replays.at(-1)]
  if (shortest === undefined || longest === undefined || shortest === longest) return null
  const [from, to] = [shortest, longest].map(({ size }) => (size ?? 0).toLocaleString('en'))
  return `processor time of an event in a log of ${to}: ${show(costOf(longest) / costOf(shortest))} × that in a log of ${from}`
}

/** Processor time of an event; NaN where the log was too short to tell. */
export function costOf({ figures }: Measured): number {
  return figures.find(({ name }) => name === 'cpuNsPerEvent')?.spread.median ?? Number.NaN
}
