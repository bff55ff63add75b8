import type { Measured } from '../measure.ts'
import { show } from './numbers.ts'

/** What an event costs in longer logs, over what it costs in the shortest: 1 where the cost is flat. */
export function tellGrowth(measured: readonly Measured[]): string | null {
  const [shortest, ...longer] = measured
    .filter((one) => one.role === 'replay' && costOf(one) > 0)
    .toSorted((a, b) => (a.size ?? 0) - (b.size ?? 0))
  if (shortest === undefined || longer.length === 0) return null
  const ratios = longer.map((one) => `${show(costOf(one) / costOf(shortest))} × with ${nameSize(one)}`)
  return `processor time per event, relative to a log of ${nameSize(shortest)} events: ${ratios.join(', ')}`
}

function nameSize({ size }: Measured): string {
  return (size ?? 0).toLocaleString('en')
}

/** Processor time of an event; NaN where the log was too short to tell. */
export function costOf({ figures }: Measured): number {
  return figures.find(({ name }) => name === 'cpuNsPerEvent')?.spread.median ?? Number.NaN
}
