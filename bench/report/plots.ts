import { quantileOf } from '../base/statistics.ts'
import type { Measured } from '../measure.ts'
import { costOf } from './growth.ts'
import { nameStore, show } from './numbers.ts'
import type { Session } from './session.ts'
import { type Bar, plotBars, plotLines, type Series } from './svg.ts'

/** The plots of a session by file name; those for which nothing was measured are left out. */
export function plotAll(session: Session): ReadonlyMap<string, string> {
  const plots: readonly (readonly [string, string | null])[] = [
    ['throughput.svg', plotThroughput(session)],
    ['latency.svg', plotLatency(session)],
    ['growth.svg', plotGrowth(session)],
  ]
  return new Map(plots.filter((plot): plot is [string, string] => plot[1] !== null))
}

function plotThroughput({ measured, peers }: Session): string | null {
  const ours = measured.filter(({ case: name }) => name === 'W1' || name === 'W2')
  const bars: Bar[] = ours.flatMap((one) => {
    const name = `Pawl, ${nameStore(one.kind)}`
    const own = barOf(name, one.case, medianOf(one, 'stepsPerSecond'))
    return one.case === 'W1' ? [own, barOf(name, 'raw', medianOf(one, 'rawPerSecond'))] : [own]
  })
  for (const { peer, about, results } of peers)
    for (const { workload, figures } of results)
      for (const { name, spread } of figures)
        if (name === 'stepsPerSecond') bars.push(barOf(about?.title ?? peer, workload, spread.median))
  const reported = bars.filter(({ value }) => value > 0).toSorted((a, b) => order(bars, a) - order(bars, b))
  return reported.length === 0 ? null : plotBars('Throughput', 'steps a second', reported)
}

const barKinds: { readonly [kind: string]: string } = {
  W1: 'W1: one after the other',
  W2: 'W2: 200 runs at once',
  raw: 'raw commits of one row',
}

function barOf(name: string, kind: string, value: number): Bar {
  return { name, kind: barKinds[kind] ?? kind, value, label: show(value) }
}

/** Those of one name together, as they came; of each W1, W2, raw commits. */
function order(bars: readonly Bar[], { name, kind }: Bar): number {
  const kinds = Object.values(barKinds)
  return bars.findIndex((bar) => bar.name === name) * kinds.length + kinds.indexOf(kind)
}

function medianOf({ figures, values }: Measured, name: string): number {
  return figures.find((figure) => figure.name === name)?.spread.median ?? quantileOf(values[name] ?? [], 0.5)
}

/** How many of all took how long: the slowest at the right, where each tenth of the rest has as much space. */
function plotLatency({ measured }: Session): string | null {
  const shares = [0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995]
  const series: Series[] = measured
    .filter(({ case: name, values }) => /^W[45]/.test(name) && (values['latencyMs']?.length ?? 0) > 0)
    .map((one) => ({
      name: `${one.case}, ${nameStore(one.kind)}`,
      group: one.case,
      isDashed: one.kind === 'postgres',
      points: shares.map((share) => ({
        x: 1 / (1 - share),
        y: quantileOf(one.values['latencyMs'] ?? [], share),
      })),
    }))
  if (series.length === 0) return null
  const x = {
    title: 'so many of all calls',
    isLogarithmic: true,
    ticks: shares.map((share) => 1 / (1 - share)),
    label: (value: number) => `${(100 * (1 - 1 / value)).toLocaleString('en')} %`,
  }
  return plotLines(
    'Latency: from the start (W4) or the signal (W5) to the end of a run',
    x,
    { title: 'took at most so many ms, on a logarithmic scale', isLogarithmic: true },
    series,
  )
}

function plotGrowth({ measured }: Session): string | null {
  const series: Series[] = (['sqlite', 'postgres'] as const)
    .map((kind) => ({
      name: nameStore(kind),
      points: measured
        .filter((one) => one.role === 'replay' && one.kind === kind)
        .map((one) => ({ x: one.size ?? 0, y: costOf(one) }))
        .filter(({ y }) => y > 0),
    }))
    .filter(({ points }) => points.length > 1)
  if (series.length === 0) return null
  const x = { title: 'events in the log, on a logarithmic scale', isLogarithmic: true }
  return plotLines('Replay from the store: processor time of an event', x, { title: 'ns an event' }, series)
}
