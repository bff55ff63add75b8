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
      '[workers killed 200 times](../../test/kill-and-restart.test.ts) at random moments: nothing acknowledged lost, nothing recorded done again',
    onPowerLoss:
      'every step that was reported: a sync for each commit; tried on [disks as a loss of power may leave them](../../packages/storage-sqlite/test/proofs/power-loss.test.ts)',
  },
  postgres: {
    settings: 'PostgreSQL; fsync, synchronous_commit and full_page_writes on; the lease as it comes (10 s)',
    tried:
      '[workers killed](../../test/postgres/siege.test.ts) at random moments, and [the server stopped without warning](../../packages/storage-postgres/test/crash.test.ts) again and again: nothing acknowledged lost, nothing recorded done again',
    onPowerLoss: 'every step that was reported: a commit for each, fsync on',
  },
}

function tellKept(kind: Measured['kind'], measured: readonly Measured[]): readonly string[] {
  const { settings, tried, onPowerLoss } = kept[kind]
  const find = (name: string): Spread | undefined =>
    findOwn('kill', name, measured).find((one) => one.kind === kind)?.spread
  const [steps, goneOn] = [find('keptSteps'), find('goneOnMs')]
  const figures = steps === undefined || goneOn === undefined ? [] : [tellTried(steps, goneOn)]
  return [settings, 'every step that was reported', [...figures, tried].join('; '), onPowerLoss]
}

function tellTried(kept: Spread, goneOn: Spread): string {
  return `${kept.median} of 100, went on after ${show(goneOn.median / 1_000)} s`
}

/** The section on peers; empty where none was measured. */
export function tellPeers({ peers, measured, machine }: Session): readonly string[] {
  if (peers.length === 0) return []
  const kinds = [...new Set(measured.map(({ kind }) => kind))].toReversed()
  const started = peers.filter(({ refusal }) => refusal === null)
  return [
    '## Others',
    'The same work in the same session, one after the other, each at the settings its documentation recommends; those that use PostgreSQL on one with the same version and settings as that of Pawl. Medians of as many rounds as Pawl has, the least and the most beside them.',
    [
      row(['who', ...columns.map(({ title }) => title)]),
      row(['---', ...columns.map(() => '---')]),
      ...kinds.map((kind) => row([`**Pawl**, ${nameStore(kind)}`, ...columns.map(ownCell(kind, measured))])),
      ...started.map((one) => row([nameOf(one), ...columns.map(peerCell(one))])),
    ].join('\n'),
    'W1, W2, W3 and W6 are timed until the last body has returned, which is kind to those that poll for results; W4 and W5, and all of Pawl, until the caller has the result; where it polls for it, and has it more than 50 ms after the end of the body, both are said. W5 is from a signal to a run that waits for it. In W6 the process of the run is killed and a server that it uses is not. W7 is the memory of the process in which the runs wait; what PostgreSQL takes for them is not in it.',
    ...kinds.slice(0, 1).flatMap((kind) => tellRatios(kind, started, measured)),
    '### What is kept',
    'Tried: of 100 steps whose results had been reported to the procedure when its process was killed with SIGKILL (and with it a server that belongs to it alone), how many did not run again; how long after the start of a new process the run went on; and that it ended with the right result. A loss of power was not tried with them: this is what their settings say. Pawl is tried the same way, and much harder in its own tests.',
    [
      row(['who', 'settings', 'SIGKILL, by its documentation', 'tried', 'loss of power, by its settings']),
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
    `How many times as good Pawl on ${nameStore(kind)} is; less than 1 where it is worse. These ratios are what holds on another machine, as far as this one was equally busy throughout.`,
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
