import { callCpu, cpu, type FigureSpec, p50, p99, ratio, raw, serverCpu, steps } from './figures.ts'
import type { Address } from './places/place.ts'

/** A measured case: its name, its workload and its targets. */
export interface Case {
  readonly name: string
  /** The role of workloads/roles.ts that measures it. Default: the name. */
  readonly role?: string
  /** Size of the workload (see Job). If several cases have one role, it is the x axis of their plot. */
  readonly size?: number
  /** Whether it is measured only with --all or by name. */
  readonly isLong?: boolean
  /** Default: every store. */
  readonly only?: Address['kind']
  /** Measured on every store even without --all. Default false. */
  readonly onBoth?: boolean
  readonly title: string
  readonly rounds: number
  /** Whether each round needs its own process and its own place. */
  readonly fresh?: boolean
  /** Settings for the comparison with another commit. Only cases with settings are compared by default. */
  readonly against?: Turns
  readonly figures: readonly FigureSpec[]
}

export interface Turns {
  /** Smaller size, so that a turn is short. */
  readonly size?: number
  /** Warm-up turns of each process. Default: 0. */
  readonly warmUp?: number
  /** Measured turns of each process. */
  readonly turns: number
}

function replayCase(size: number, more: Partial<Case> = {}): Case {
  return {
    name: `replay ${size.toLocaleString('en')}`,
    title: `replay of a log of ${size.toLocaleString('en')} events, from the store`,
    role: 'replay',
    size,
    rounds: size <= 10_000 ? 15 : 5,
    figures: [
      {
        name: 'eventsPerSecond',
        title: 'throughput',
        unit: 'events/s',
        better: 'more',
        // Of a short log it is what is left of a difference.
        isCompared: false,
        ...(size === 100_000 ? { target: { sqlite: 300_000, postgres: 150_000 } } : {}),
      },
      { name: 'nsPerEvent', title: 'time per event', unit: 'ns', better: 'less', isCompared: false },
      {
        name: 'cpuNsPerEvent',
        title: 'processor time of an event',
        unit: 'ns',
        better: 'less',
        isCompared: false,
      },
      { name: 'totalMs', title: 'signal to resumption', unit: 'ms', better: 'less' },
      { name: 'totalCpuMs', title: 'processor time of that', unit: 'ms', better: 'less' },
      { name: 'firstMs', title: 'the first in a new process', unit: 'ms', better: 'less', isCompared: false },
    ],
    ...more,
  }
}

function payloadCase(size: number, name: string): Case {
  return {
    name: `payload ${name}`,
    title: `steps one after the other that return ${name}`,
    role: 'payloads',
    size,
    rounds: 5,
    figures: [
      ratio,
      steps,
      { name: 'mbPerSecond', title: 'payload', unit: 'MB/s', better: 'more', isCompared: false },
      cpu,
      serverCpu,
      { name: 'diskPerByte', title: 'disk per byte of payload', unit: 'B', better: 'less' },
    ],
  }
}

function fleetCase(workers: number): Case {
  return {
    name: `workers ${workers}`,
    title: `400 runs of 10 steps started by a client, ${workers} ${workers === 1 ? 'worker' : 'workers'}`,
    role: 'workers',
    size: workers,
    rounds: 5,
    only: 'postgres',
    figures: [steps, { name: 'totalMs', title: 'start to the last result', unit: 'ms', better: 'less' }],
  }
}

function scopeCase(name: string, title: string, own: string, plain: string): Case {
  return {
    name,
    title,
    rounds: 7,
    onBoth: true,
    figures: [
      { name: 'perSecond', title: own, unit: '/s', better: 'more' },
      { name: 'plainPerSecond', title: plain, unit: '/s', better: 'more', isCompared: false },
      { name: 'ratio', title: 'time over that of the same without it', unit: '×', better: 'less' },
    ],
  }
}

const pieceMs = { unit: 'ms', better: 'less' } as const

function stallCase(name: string, title: string): Case {
  return {
    name: `stalls ${name}`,
    title: `${title}: the longest synchronous piece of the engine's own work`,
    isLong: true,
    onBoth: true,
    rounds: 5,
    figures: [
      {
        name: 'ratio',
        title: '10,000 at once, over ten bursts of 1,000',
        unit: '×',
        better: 'less',
        target: { sqlite: 1.5, postgres: 1.5 },
        isCompared: false,
      },
      { name: 'fewMs', title: 'ten bursts of 1,000', ...pieceMs },
      { name: 'manyMs', title: '10,000 at once', ...pieceMs },
      { name: 'fewWithGarbageMs', title: 'ten bursts, with garbage collections', ...pieceMs },
      { name: 'manyWithGarbageMs', title: '10,000 at once, with garbage collections', ...pieceMs },
    ],
  }
}

export const cases: readonly Case[] = [
  {
    name: 'W1',
    title: 'one run of 1,000 steps, one after the other',
    rounds: 7,
    against: { size: 500, warmUp: 4, turns: 16 },
    figures: [{ ...ratio, target: { sqlite: 0.7, postgres: 0.7 } }, steps, raw, cpu, serverCpu],
  },
  {
    name: 'W2',
    title: '200 runs of 10 steps at once',
    rounds: 7,
    against: { size: 100, warmUp: 6, turns: 16 },
    figures: [
      { ...steps, target: { sqlite: 80_000, postgres: 30_000 } },
      ratio,
      cpu,
      serverCpu,
      {
        name: 'diskBytesPerStep',
        title: 'disk',
        unit: 'B/step',
        better: 'less',
        target: { sqlite: 100, postgres: 180 },
      },
    ],
  },
  {
    name: 'W3',
    title: 'one run, 500 steps in Promise.all',
    rounds: 7,
    against: { warmUp: 8, turns: 24 },
    figures: [
      {
        name: 'totalMs',
        title: 'start to result',
        unit: 'ms',
        better: 'less',
        target: { sqlite: 20, postgres: 40 },
      },
      cpu,
      serverCpu,
    ],
  },
  {
    name: 'W4',
    title: 'a run of one step, from its start to its result',
    rounds: 3,
    against: { size: 20, warmUp: 8, turns: 16 },
    figures: [{ ...p50, target: { sqlite: 1, postgres: 3 } }, p99, callCpu],
  },
  {
    name: 'W5',
    title: 'from a signal to the end of the run, same process',
    rounds: 3,
    against: { size: 5, warmUp: 3, turns: 9 },
    figures: [
      { ...p50, target: { sqlite: 1, postgres: 3 } },
      p99,
      callCpu,
      {
        name: 'rawP50Ms',
        title: 'three raw commits after the same rest',
        unit: 'ms',
        better: 'less',
        isCompared: false,
      },
    ],
  },
  {
    name: 'W5 answer',
    title: "from a person's answer to the end of the run, same process",
    rounds: 2,
    against: { size: 5, warmUp: 3, turns: 9 },
    figures: [{ ...p50, target: { sqlite: 1, postgres: 3 } }, p99, callCpu],
  },
  {
    name: 'W5 other process',
    title: 'from a signal sent by another process to the end of the run',
    rounds: 2,
    against: { size: 5, warmUp: 3, turns: 9 },
    figures: [{ ...p50, target: { sqlite: 20, postgres: 10 } }, p99, callCpu],
  },
  {
    name: 'W6',
    title: '2,000 recorded steps, SIGKILL while waiting, then a new process',
    rounds: 5,
    against: { turns: 4 },
    figures: [
      {
        name: 'doneMs',
        title: 'engine start to result',
        unit: 'ms',
        better: 'less',
        target: { sqlite: 30, postgres: 60 },
      },
      { name: 'readyMs', title: 'start of the engine', unit: 'ms', better: 'less' },
      { name: 'cpuMs', title: 'processor time of that process', unit: 'ms', better: 'less' },
    ],
  },
  {
    name: 'W7',
    title: '1,000 waiting runs',
    rounds: 3,
    fresh: true,
    against: { turns: 4 },
    figures: [
      { name: 'addedMb', title: 'resident memory added', unit: 'MB', better: 'less' },
      { name: 'cpuUsPerRun', title: 'processor time until a run waits', unit: 'µs', better: 'less' },
    ],
  },
  scopeCase(
    'race',
    'one run, 1,000 races of a step and a timer, one after the other',
    'races',
    'steps without a race',
  ),
  scopeCase('map', 'one run, a map of 1,000 steps, 10 at a time', 'items', 'steps of 10 loops'),
  scopeCase('children', 'one run, 1,000 children at once', 'children', 'steps in place of the children'),
  {
    name: 'children 10,000',
    title: 'one run, 10,000 children at once',
    isLong: true,
    onBoth: true,
    rounds: 3,
    fresh: true,
    figures: [
      { name: 'totalMs', title: 'start to result', ...pieceMs },
      { name: 'perSecond', title: 'children', unit: '/s', better: 'more' },
      { name: 'longestMs', title: "the longest synchronous piece of the process's work", ...pieceMs },
      { name: 'longestWithGarbageMs', title: 'with garbage collections', ...pieceMs },
      { name: 'addedMb', title: 'resident memory added', unit: 'MB', better: 'less' },
      { name: 'logEvents', title: 'events in the log of the parent', unit: 'events', better: 'less' },
      { name: 'logBytes', title: 'payload in that log', unit: 'B/child', better: 'less' },
      { name: 'diskBytes', title: 'disk of the parent and the children', unit: 'B/child', better: 'less' },
    ],
  },
  {
    name: 'plan',
    title: 'one run, a plan of 1,000 tasks in 10 layers',
    rounds: 7,
    onBoth: true,
    figures: [
      { name: 'totalMs', title: 'start to result', unit: 'ms', better: 'less' },
      {
        name: 'plainMs',
        title: 'the same steps in Promise.all',
        unit: 'ms',
        better: 'less',
        isCompared: false,
      },
      { name: 'ratio', title: 'time over that of the same without it', unit: '×', better: 'less' },
    ],
  },
  {
    name: 'kill',
    title: 'SIGKILL in the 101st step of a run, then a new process',
    isLong: true,
    rounds: 3,
    figures: [
      { name: 'keptSteps', title: 'kept of 100 reported steps', unit: 'steps', better: 'more' },
      { name: 'goneOnMs', title: 'until the run resumes', unit: 'ms', better: 'less' },
    ],
  },
  replayCase(1_000),
  replayCase(10_000, { against: { warmUp: 4, turns: 12 } }),
  replayCase(100_000),
  replayCase(1_000_000, { isLong: true, only: 'sqlite', rounds: 3 }),
  payloadCase(2 ** 10, '1 KiB'),
  payloadCase(2 ** 16, '64 KiB'),
  payloadCase(2 ** 20, '1 MiB'),
  {
    name: 'start-up',
    title: 'an engine starts on a store with 100,000 waiting runs, in a new process',
    isLong: true,
    size: 100_000,
    rounds: 3,
    against: { size: 5_000, turns: 4 },
    figures: [
      {
        name: 'readyMs',
        title: 'time to ready',
        unit: 'ms',
        better: 'less',
        target: { sqlite: 5_000, postgres: 5_000 },
      },
      { name: 'cpuMs', title: 'processor time of the process by then', unit: 'ms', better: 'less' },
      {
        name: 'residentMb',
        title: 'resident memory',
        unit: 'MB',
        better: 'less',
        target: { sqlite: 150, postgres: 150 },
      },
      { name: 'addedMb', title: 'of which added by the engine', unit: 'MB', better: 'less' },
      { name: 'wakeMs', title: 'from the first signal to the end of its run', unit: 'ms', better: 'less' },
      { name: 'diskBytesPerRun', title: 'disk', unit: 'B/run', better: 'less' },
    ],
  },
  {
    name: 'answers',
    title: '1,000 answers a second into 10,000 waiting runs',
    isLong: true,
    size: 10_000,
    rounds: 1,
    figures: [
      { name: 'perSecond', title: 'answered runs', unit: '/s', better: 'more' },
      { ...p50, title: 'half of them ended within' },
      { ...p99, title: '99 of 100 ended within' },
      { name: 'cpuUsPerAnswer', title: 'processor time', unit: 'µs', better: 'less' },
      {
        name: 'sentLateMs',
        title: 'the latest answer was sent late by',
        unit: 'ms',
        better: 'less',
        isCompared: false,
      },
    ],
  },
  fleetCase(1),
  fleetCase(2),
  fleetCase(4),
  stallCase('runs', 'runs of one step, started at once'),
  stallCase('signals', 'waiting runs, signalled at once'),
  stallCase('asks', 'questions of one run, asked and answered at once'),
  stallCase('steps', 'steps of one run at once'),
]

/** Whether a name is one of those wanted, or begins with one of them and a space; in any case. */
export function isNamed(name: string, wanted: readonly string[]): boolean {
  return wanted.some((part) => `${name.toLowerCase()} `.startsWith(`${part.toLowerCase()} `))
}
