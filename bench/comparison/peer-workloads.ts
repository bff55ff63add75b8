import { cases } from '../cases.ts'
import type { PeerFigure } from './peer.ts'

export interface PeerWorkload {
  readonly name: string
  readonly title: string
  /** In each process; those that count, not those that warm up. */
  readonly rounds: number
  /** How many processes measure it, each on a place of its own. */
  readonly processes: number
  /** Those of Pawl have the same names. */
  readonly figures: readonly Omit<PeerFigure, 'spread'>[]
  /** Measured once more with what the peer offers for low latency, if it does. */
  readonly isLatency?: boolean
  /** Those whose programs have it. Default: all. */
  readonly peers?: readonly string[]
}

const p50 = { name: 'p50Ms', title: 'p50', unit: 'ms', better: 'less' } as const
const p90 = { name: 'p90Ms', title: '9 of 10 within', unit: 'ms', better: 'less' } as const
const body = { name: 'bodyP50Ms', title: 'half of all bodies within', unit: 'ms', better: 'less' } as const
/** At the peer's settings for low latency. */
const eager = { ...p50, name: 'eagerP50Ms', title: 'half of all, set for low latency' } as const
const eagerBody = { ...p50, name: 'eagerBodyP50Ms', title: 'half of all bodies then' } as const
const steps = { name: 'stepsPerSecond', title: 'throughput', unit: 'steps/s', better: 'more' } as const

/** Where a round takes a process of its own, there are so many of them. */
function repeat(name: string, isFresh: boolean): Pick<PeerWorkload, 'rounds' | 'processes'> {
  const rounds = cases.find((one) => one.name === name)?.rounds ?? 1
  return isFresh ? { rounds: 1, processes: rounds } : { rounds, processes: 1 }
}

export const peerWorkloads: readonly PeerWorkload[] = [
  {
    name: 'W1',
    title: 'one run of 1,000 steps, one after the other',
    ...repeat('W1', false),
    figures: [steps],
  },
  {
    name: 'W2',
    title: '200 runs of 10 steps at once',
    ...repeat('W2', false),
    figures: [steps, { name: 'diskBytesPerStep', title: 'disk', unit: 'B/step', better: 'less' }],
  },
  {
    name: 'W3',
    title: 'one run, 500 steps in Promise.all',
    ...repeat('W3', false),
    figures: [{ name: 'totalMs', title: 'start to the end of its body', unit: 'ms', better: 'less' }],
  },
  {
    name: 'W4',
    title: 'a run of one step, from its start to its result',
    ...repeat('W4', false),
    figures: [p50, p90, body, eager, eagerBody],
    isLatency: true,
  },
  {
    name: 'W5',
    title: 'from a signal to the result of the run that waited',
    ...repeat('W5', false),
    figures: [p50, p90, body, eager, eagerBody],
    isLatency: true,
  },
  {
    name: 'W6',
    title: '2,000 recorded steps, SIGKILL while waiting, then a new process',
    ...repeat('W6', true),
    figures: [
      { name: 'doneMs', title: 'engine start to the end of its body', unit: 'ms', better: 'less' },
      { name: 'readyMs', title: 'start of the engine', unit: 'ms', better: 'less' },
    ],
  },
  {
    name: 'W7',
    title: '1,000 waiting runs',
    ...repeat('W7', true),
    figures: [
      { name: 'addedMb', title: 'resident memory added', unit: 'MB', better: 'less' },
      { name: 'serverMb', title: 'and in its own server', unit: 'MB', better: 'less' },
    ],
  },
  {
    name: 'children',
    title: 'one run, 1,000 children at once',
    // A round takes some of them most of a minute.
    rounds: 3,
    processes: 1,
    figures: [{ name: 'perSecond', title: 'children', unit: '/s', better: 'more' }],
    peers: ['dbos', 'openworkflow', 'restate'],
  },
  {
    name: 'kill',
    title: 'SIGKILL when 100 of 200 steps had been reported to the procedure',
    ...repeat('kill', true),
    figures: [
      { name: 'keptSteps', title: 'of these did not run again', unit: 'steps', better: 'more' },
      { name: 'goneOnMs', title: 'a new process went on after', unit: 'ms', better: 'less' },
    ],
  },
]
