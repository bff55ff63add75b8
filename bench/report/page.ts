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
    `Every figure is of full durability: a step is on the disk before the next one starts (\`synchronous=full\` on SQLite; fsync, synchronous_commit and full_page_writes on PostgreSQL). Results are checked, and the recorded log with them: a run that did less than it was asked is an error, not a fast run. Raw commits are those of one row, on the same disk, by the same process, beside the engine; "over raw commits" tells more of another machine than the times do, though it too moves with what else the disk and the processor are at; in W2, where one commit carries the steps of many runs, it is steps over commits. Pawl and the others do the same: W1 to W5 are timed once they have been done for ${pace.warmUpMs / 1_000} s; W4 in rounds of ${pace.starts} calls and W5 of ${pace.signals}, or as many as ten seconds allow. A signal is sent ${pace.restMs} ms after its run began to wait. W7 is what is kept in memory of waiting runs so that they go on without a replay; [it is bounded](../guides/operating.md). Processes that measure, workers, clients and stores share the cores of one machine: that more workers do more shows only where there are cores to spare. What was too small to be told from noise is left out.`,
    '`npm run bench -- stalls` measures on both stores how long the engine holds the event loop: the processor time of the longest synchronous piece of its own work, without garbage collections, while 10,000 runs, signals, asks or steps come at once, over that while they come in ten bursts of 1,000.',
    'The targets are what Pawl set itself before it was written. This page is made by the bench, with the command at its top.',
  ].join('\n\n')}\n`
}

function introduce({ date, machine, command }: Session): string {
  const { cores, processor, memoryGb, system, node } = machine
  const where = `Measured on ${date.slice(0, 10)} with \`${command}\` on a machine with ${cores} cores (${processor}), ${memoryGb} GB of memory, ${system}, Node ${node}.`
  const spread =
    'Each figure is the median of several rounds, where it says least to most; the kernel by itself is the best of several.'
  return isBusy(machine)
    ? `${where}\n\n**The machine was busy with other things** (${show(machine.load)} processes wanted its ${cores} cores when the bench began): the times on this page are provisional and too long. ${spread}`
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
      '| what | figure | median | least to most | target | command |',
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
    `By itself, from memory: no store, no decoding. The best of several rounds; events are those of a log, delivered one after the other. \`npm run bench -- ${name}\``,
    [
      '| what | events | an event | its processor time | target |',
      '| --- | --- | --- | --- | --- |',
      ...rows,
    ].join('\n'),
  ]
}

function tellPlots(plots: readonly string[]): readonly string[] {
  const titles: { readonly [file: string]: string } = {
    'throughput.svg': 'Steps a second',
    'latency.svg': 'Latency: what share of all took how long',
    'growth.svg': 'What an event costs in logs of different lengths',
  }
  return ['## Plots', ...plots.map((file) => `![${titles[file] ?? file}](performance/${file})`)]
}
