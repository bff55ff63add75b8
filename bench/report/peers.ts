import type { Spread } from '../base/statistics.ts'
import type { PeerFigure, PeerMeasured } from '../comparison/peer.ts'
import type { Measured } from '../measure.ts'
import { findOwn, ratioOf } from './comparison.ts'
import { nameStore, show } from './numbers.ts'
import type { Session } from './session.ts'

/** One figure of one workload. */
interface Column {
  readonly workload: string
  readonly name: string
  readonly title: string
}

const columns: readonly Column[] = [
  { workload: 'W1', name: 'stepsPerSecond', title: 'W1 steps/s' },
  { workload: 'W2', name: 'stepsPerSecond', title: 'W2 steps/s' },
  { workload: 'W3', name: 'totalMs', title: 'W3 ms' },
  { workload: 'W4', name: 'p50Ms', title: 'W4 p50 ms' },
  { workload: 'W5', name: 'p50Ms', title: 'W5 p50 ms' },
  { workload: 'W6', name: 'doneMs', title: 'W6 ms' },
  { workload: 'W7', name: 'addedMb', title: 'W7 MB' },
  { workload: 'W2', name: 'diskBytesPerStep', title: 'disk B/step' },
]

interface Kept {
  readonly settings: string
  readonly tried: string
  readonly onPowerLoss: string
}

/** What Pawl keeps, and the tests that try it; links are from docs/reports. */
const kept: { readonly [kind in Measured['kind']]: Kept } = {
  sqlite: {
    settings: 'WAL, synchronous=full',
    tried:
      '[workers killed 200 times](../../test/kill-and-restart.test.ts) at random moments: no acknowledged write lost, no recorded step repeated',
    onPowerLoss:
      'every reported step: a sync for each commit; tested on [simulated disks after a power loss](../../packages/storage-sqlite/test/proofs/power-loss.test.ts)',
  },
  postgres: {
    settings: 'PostgreSQL; fsync, synchronous_commit and full_page_writes on; the default lease (10 s)',
    tried:
      '[workers killed](../../test/postgres/siege.test.ts) at random moments, and [the server killed](../../packages/storage-postgres/test/crash.test.ts) repeatedly: no acknowledged write lost, no recorded step repeated',
    onPowerLoss: 'every reported step: a commit for each, fsync on',
  },
}

function tellKept(kind: Measured['kind'], measured: readonly Measured[]): readonly string[] {
  const { settings, tried, onPowerLoss } = kept[kind]
  const find = (name: string): Spread | undefined =>
    findOwn('kill', name, measured).find((one) => one.kind === kind)?.spread
  const [steps, goneOn] = [find('keptSteps'), find('goneOnMs')]
  const figures = steps === undefined || goneOn === undefined ? [] : [tellTried(steps, goneOn)]
  return [settings, 'every reported step', [...figures, tried].join('; '), onPowerLoss]
}

function tellTried(kept: Spread, goneOn: Spread): string {
  return `${kept.median} of 100, resumed after ${show(goneOn.median / 1_000)} s`
}

/** The section on peers; empty where none was measured. */
export function tellPeers({ peers, measured, machine }: Session): readonly string[] {
  if (peers.length === 0) return []
  const kinds = [...new Set(measured.map(({ kind }) => kind))].toReversed()
  const started = peers.filter(({ refusal }) => refusal === null)
  return [
    '## Other engines',
    'All engines did the same work in the same session, one after the other, with the settings that their documentation recommends. PostgreSQL had the same version and settings for all. Figures are medians of as many rounds as for Pawl, with the minimum and the maximum.',
    [
      row(['engine', ...columns.map(({ title }) => title)]),
      row(['---', ...columns.map(() => '---')]),
      ...kinds.map((kind) => row([`**Pawl**, ${nameStore(kind)}`, ...columns.map(ownCell(kind, measured))])),
      ...started.map((one) => row([nameOf(one), ...columns.map(peerCell(one))])),
    ].join('\n'),
    'W1, W2, W3 and W6 of the other engines end when the last body has returned, which favors engines that poll for results. W4, W5 and all workloads of Pawl end when the caller has the result. If the caller polls and gets the result more than 50 ms after the end of the body, both times are shown. W5 starts with a signal to a waiting run. W6 kills the process of the run, but not a server that it uses. W7 is the memory of the process with the waiting runs, without the memory of PostgreSQL.',
    ...kinds.slice(0, 1).flatMap((kind) => tellRatios(kind, started, measured)),
    '### Durability',
    'The test kills the process with SIGKILL after the results of 100 steps have been reported to the procedure. It also kills a server that belongs to this process alone. The table shows how many of the 100 steps did not run again, and how long after the start of a new process the run resumed. Every run ended with the right result. Power loss was not tested for the other engines; the column follows from their settings. Pawl has further tests of its own.',
    [
      row(['engine', 'settings', 'SIGKILL, by its documentation', 'tested', 'power loss, by its settings']),
      row(['---', '---', '---', '---', '---']),
      ...kinds.map((kind) => row([`**Pawl**, ${nameStore(kind)}`, ...tellKept(kind, measured)])),
      ...started.map((one) =>
        row([
          nameOf(one),
          tellSettings(one, machine.node),
          one.about?.onKill ?? '',
          tellKill(one),
          one.about?.onPowerLoss ?? '',
        ]),
      ),
    ].join('\n'),
    ...tellNotes(peers),
    `\`\`\`sh\n${tellCommand(peers)}\n\`\`\``,
  ]
}

/** The schema of absurd is not in its npm package. */
function tellCommand(peers: readonly PeerMeasured[]): string {
  const names = peers.map(({ peer }) => peer)
  return `${names.includes('absurd') ? 'BENCH_ABSURD_SQL=absurd.sql ' : ''}npm run bench -- --peers ${names.join(',')}`
}

function tellRatios(
  kind: Measured['kind'],
  peers: readonly PeerMeasured[],
  measured: readonly Measured[],
): readonly string[] {
  const cell =
    (peer: PeerMeasured) =>
    ({ workload, name }: Column): string => {
      const own = findOwn(workload, name, measured).find((one) => one.kind === kind)
      const figure = findFigure(peer, workload, name)
      if (own === undefined || figure === undefined) return ''
      const note = findNote(peer, workload)
      const beside = findBeside(peer, workload, name, figure)
      return [
        `${show(ratioOf(figure, own.spread))} ×`,
        ...beside.map(({ what, figure: other }) => `${what} ${show(ratioOf(other, own.spread))} ×`),
        ...(note === null ? [] : [note]),
      ].join(', ')
    }
  return [
    `Ratio of Pawl on ${nameStore(kind)} to each engine. Above 1, Pawl is better; below 1, it is worse. If the load of the machine was constant, the ratios also apply to other machines.`,
    [
      row(['Pawl over', ...columns.map(({ title }) => title)]),
      row(['---', ...columns.map(() => '---')]),
      ...peers.map((peer) => row([nameOf(peer), ...columns.map(cell(peer))])),
    ].join('\n'),
  ]
}

function ownCell(kind: Measured['kind'], measured: readonly Measured[]) {
  return ({ workload, name }: Column): string => {
    const own = findOwn(workload, name, measured).find((one) => one.kind === kind)
    return own === undefined ? 'not measured' : tellSpread(own.spread)
  }
}

function peerCell(peer: PeerMeasured) {
  return ({ workload, name }: Column): string => {
    const figure = findFigure(peer, workload, name)
    const note = findNote(peer, workload)
    if (figure === undefined) return note ?? 'not measured'
    const server = name === 'addedMb' ? findFigure(peer, workload, 'serverMb') : undefined
    const beside = findBeside(peer, workload, name, figure)
    return [
      tellSpread(figure.spread),
      ...(server === undefined ? [] : [`and ${show(server.spread.median)} in its server`]),
      ...(note === null ? [] : [note]),
      ...beside.map(({ what, figure: other }) => `${what} ${show(other.spread.median)}`),
    ].join(', ')
  }
}

function tellSettings({ about }: PeerMeasured, node: string): string {
  if (about === null) return ''
  return about.node === node ? about.settings : `${about.settings}; Node ${about.node}`
}

function tellKill(peer: PeerMeasured): string {
  const kept = findFigure(peer, 'kill', 'keptSteps')
  const goneOn = findFigure(peer, 'kill', 'goneOnMs')
  if (kept === undefined || goneOn === undefined) return findNote(peer, 'kill') ?? 'not measured'
  const tried = tellTried(kept.spread, goneOn.spread)
  const note = findNote(peer, 'kill')
  return note === null ? tried : `${tried}; ${note}`
}

function tellNotes(peers: readonly PeerMeasured[]): readonly string[] {
  const limits = peers.flatMap(({ peer, about }) =>
    about?.limit === undefined ? [] : [`- ${about.title ?? peer}: ${about.limit}.`],
  )
  const refusals = peers.flatMap(({ peer, refusal }) =>
    refusal === null ? [] : [`- ${peer} did not start: ${refusal}.`],
  )
  return limits.length + refusals.length === 0 ? [] : [[...limits, ...refusals].join('\n')]
}

function findFigure({ results }: PeerMeasured, workload: string, name: string): PeerFigure | undefined {
  return results
    .find((result) => result.workload === workload)
    ?.figures.find((figure) => figure.name === name)
}

/** Of a latency: when the body had ended, where its caller learns that late, and both at other settings. */
function findBeside(
  peer: PeerMeasured,
  workload: string,
  name: string,
  { spread }: PeerFigure,
): readonly { readonly what: string; readonly figure: PeerFigure }[] {
  if (name !== 'p50Ms') return []
  const body = findFigure(peer, workload, 'bodyP50Ms')
  const isLate = body !== undefined && spread.median - body.spread.median > 50
  const eager = findFigure(peer, workload, 'eagerP50Ms')
  const eagerBody = findFigure(peer, workload, 'eagerBodyP50Ms')
  return [
    ...(isLate ? [{ what: 'its body', figure: body }] : []),
    ...(eager === undefined ? [] : [{ what: peer.about?.eager ?? '', figure: eager }]),
    ...(eagerBody === undefined ? [] : [{ what: 'its body then', figure: eagerBody }]),
  ]
}

function findNote({ results }: PeerMeasured, workload: string): string | null {
  return results.find((result) => result.workload === workload)?.note ?? null
}

function nameOf({ peer, about }: PeerMeasured): string {
  return about === null ? peer : `${about.title} ${about.version}`
}

function tellSpread({ median, min, max, count }: Spread): string {
  return count < 2 ? show(median) : `${show(median)} (${show(min)} to ${show(max)})`
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
