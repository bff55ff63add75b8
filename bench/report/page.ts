import { pace } from '../base/pace.ts'
import type { Figure, Measured } from '../measure.ts'
import { tellGrowth } from './growth.ts'
import { isBusy } from './machine.ts'
import { nameStore, show } from './numbers.ts'
import { tellPeers } from './peers.ts'
import type { Part, Session } from './session.ts'

/** docs/reports/performance.md of a session; `soak` is the section on what is measured by itself, where there is one. */
export function writePage(session: Session, plots: readonly string[], soak: string | null): string {
  const kinds = [...new Set(session.measured.map(({ kind }) => kind))]
  return `${[
    '# Performance',
    introduce(session),
    ...kinds.flatMap((kind) => tellStore(kind, session)),
    ...session.parts.flatMap(tellPart),
    ...tellPlots(plots),
    ...tellPeers(session),
    ...(soak === null ? [] : [soak]),
    '## How it is measured',
    `Every figure is measured with full durability: a step is on disk before the next one starts. SQLite uses \`synchronous=full\`, PostgreSQL uses fsync, synchronous_commit and full_page_writes. Results and recorded logs are checked, and an incomplete run is an error.`,
    [
      `- **Raw commits** are commits of one row, on the same disk and by the same process, next to the engine. The ratio "over raw commits" transfers to other machines better than times do, although it also depends on the load of disk and processor. In W2 it is the ratio of steps to commits, because one commit contains the steps of many runs.`,
      `- **Warm-up.** W1 to W5 are timed after ${pace.warmUpMs / 1_000} s of the same work, for Pawl and the other engines.`,
      `- **Rounds.** W4 has rounds of ${pace.starts} calls and W5 of ${pace.signals}, or as many as ten seconds allow. A signal is sent ${pace.restMs} ms after its run started to wait.`,
      `- **W7** is the memory of waiting runs that resume without a replay. [It is bounded](../guides/operating.md#limits).`,
      `- **Processor cores.** Measuring processes, workers, clients and stores share the cores of one machine. More workers increase throughput only if cores are free.`,
      `- **Noise.** Differences that cannot be distinguished from noise are omitted.`,
    ].join('\n'),
    `\`npm run bench -- stalls\` measures how long the engine blocks the event loop, on both stores. It compares bursts of 10,000 simultaneous runs, signals, asks or steps with ten bursts of 1,000. The figure is the processor time of the longest synchronous piece of work of the engine, without garbage collection.`,
    `Pawl set its targets before it was written. The bench generates this page with the command at its top.`,
  ].join('\n\n')}\n`
}

function introduce({ date, machine, command }: Session): string {
  const { cores, processor, memoryGb, system, node } = machine
  const where = `Measured on ${date.slice(0, 10)} with \`${command}\` on a machine with ${cores} cores (${processor}), ${memoryGb} GB of memory, ${system}, Node ${node}.`
  const spread =
    'Each figure is the median of several rounds, with the minimum and the maximum. Figures of the kernel alone are the best of several rounds.'
  return isBusy(machine)
    ? `${where}\n\n**The machine was busy** (load ${show(machine.load)} on ${cores} cores when the bench started): the times on this page are provisional and too long. ${spread}`
    : `${where} ${spread}`
}

function tellStore(kind: Measured['kind'], { measured }: Session): readonly string[] {
  const own = measured.filter((one) => one.kind === kind).map(dropNoise)
  const aims = own.flatMap(({ case: name, figures }) =>
    figures.filter(({ met }) => met !== null).map((figure) => ({ name, figure })),
  )
  const missed = aims.filter(({ figure }) => figure.met === false)
  const growth = tellGrowth(own)
  return [
    `## ${nameStore(kind)}`,
    missed.length === 0
      ? `All ${aims.length} targets are met.`
      : `${aims.length - missed.length} of ${aims.length} targets are met. Not met: ${missed.map(({ name, figure }) => `${name} ${figure.title} (${show(figure.spread.median)} ${figure.unit}, target ${show(figure.target ?? 0)})`).join('; ')}.`,
    [
      '| workload | figure | median | range | target | command |',
      '| --- | --- | --- | --- | --- | --- |',
      ...own.flatMap(tellRows),
    ].join('\n'),
    ...(growth === null ? [] : [`${growth[0]?.toUpperCase()}${growth.slice(1)}.`]),
  ]
}

function tellRows({ case: name, title, kind, figures }: Measured): readonly string[] {
  const command = `\`npm run bench -- ${name.includes(' ') ? `"${name}"` : name}${kind === 'postgres' ? ' --all' : ''}\``
  return figures.map(
    (figure, i) =>
      `| ${i === 0 ? `**${name}** ${title}` : ''} | ${figure.title} | ${show(figure.spread.median)} ${figure.unit} | ${show(figure.spread.min)} to ${show(figure.spread.max)} | ${tellTarget(figure)} | ${i === 0 ? command : ''} |`,
  )
}

/** Leaves out what is below nothing: but for memory that is noise, of a difference of two measurements. */
function dropNoise(one: Measured): Measured {
  const isNoise = ({ unit, spread }: Figure): boolean => unit !== 'MB' && spread.min < 0
  const none = { median: Number.NaN, min: Number.NaN, max: Number.NaN, count: 0 }
  const figures = one.figures
    .filter((figure) => !isNoise(figure) || figure.target !== null)
    .map((figure) => (isNoise(figure) ? { ...figure, met: false, spread: none } : figure))
  return { ...one, figures }
}

function tellTarget({ target, met, better }: Figure): string {
  if (target === null) return ''
  return `${better === 'more' ? '≥' : '≤'} ${show(target)}: ${met === true ? 'met' : '**not met**'}`
}

function tellPart({ name, figures }: Part): readonly string[] {
  const rows = figures.map(({ what, nsPerEvent, cpuNsPerEvent, aim }) => {
    const perSecond = 1e9 / nsPerEvent
    const target = aim === null ? '' : `≥ ${show(aim)}: ${perSecond >= aim ? 'met' : '**not met**'}`
    return `| ${what} | ${show(perSecond)} /s | ${show(nsPerEvent)} ns | ${show(cpuNsPerEvent)} ns | ${target} |`
  })
  return [
    `## The ${name}`,
    `The kernel alone, in memory, without a store and without decoding: the best of several rounds. The events of a log are delivered one after the other. \`npm run bench -- ${name}\``,
    [
      '| what | events | an event | its processor time | target |',
      '| --- | --- | --- | --- | --- |',
      ...rows,
    ].join('\n'),
  ]
}

function tellPlots(plots: readonly string[]): readonly string[] {
  const titles: { readonly [file: string]: string } = {
    'throughput.svg': 'Steps per second',
    'latency.svg': 'Latency: cumulative share of calls',
    'growth.svg': 'Cost of an event by length of the log',
  }
  return ['## Plots', ...plots.map((file) => `![${titles[file] ?? file}](performance/${file})`)]
}
