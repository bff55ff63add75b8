import type { Address } from './places/place.ts'

/** What is measured, what it is called, and what it has to reach. */
export interface Case {
  /** The role of workloads/roles.ts that measures it. */
  readonly name: string
  readonly title: string
  readonly rounds: number
  /** Each round needs a process of its own, on a place of its own. */
  readonly fresh?: boolean
  readonly figures: readonly FigureSpec[]
}

export interface FigureSpec {
  readonly name: string
  readonly title: string
  readonly unit: string
  readonly better: 'more' | 'less'
  /** What must be reached on each store. */
  readonly target?: { readonly [kind in Address['kind']]?: number }
}

const p50 = { name: 'p50Ms', title: 'half of all within', unit: 'ms', better: 'less' } as const
const p99 = { name: 'p99Ms', title: '99 of 100 within', unit: 'ms', better: 'less' } as const
const steps = { name: 'stepsPerSecond', title: 'throughput', unit: 'steps/s', better: 'more' } as const
const raw = {
  name: 'rawPerSecond',
  title: 'raw commits of one row beside it',
  unit: '/s',
  better: 'more',
} as const
const cpu = {
  name: 'cpuUsPerStep',
  title: 'processor time of the engine',
  unit: 'µs/step',
  better: 'less',
} as const

export const cases: readonly Case[] = [
  {
    name: 'W1',
    title: 'one run of 1,000 steps, one after the other',
    rounds: 7,
    figures: [
      {
        name: 'ratio',
        title: 'over raw commits',
        unit: '×',
        better: 'more',
        target: { sqlite: 0.7, postgres: 0.7 },
      },
      steps,
      raw,
      cpu,
    ],
  },
  {
    name: 'W2',
    title: '200 runs of 10 steps at once',
    rounds: 7,
    figures: [
      { ...steps, target: { sqlite: 80_000, postgres: 30_000 } },
      { name: 'ratio', title: 'over raw commits', unit: '×', better: 'more' },
      cpu,
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
    figures: [
      {
        name: 'totalMs',
        title: 'start to result',
        unit: 'ms',
        better: 'less',
        target: { sqlite: 20, postgres: 40 },
      },
      cpu,
    ],
  },
  {
    name: 'W4',
    title: 'a run of one step, from its start to its result',
    rounds: 3,
    figures: [{ ...p50, target: { sqlite: 1, postgres: 3 } }, p99],
  },
  {
    name: 'W5',
    title: 'from a signal to the end of the run, same process',
    rounds: 3,
    figures: [{ ...p50, target: { sqlite: 1, postgres: 3 } }, p99],
  },
  {
    name: 'W5 answer',
    title: "from a person's answer to the end of the run, same process",
    rounds: 3,
    figures: [{ ...p50, target: { sqlite: 1, postgres: 3 } }, p99],
  },
  {
    name: 'W5 other process',
    title: 'from a signal sent by another process to the end of the run',
    rounds: 3,
    figures: [{ ...p50, target: { sqlite: 20, postgres: 10 } }, p99],
  },
  {
    name: 'W6',
    title: '2,000 recorded steps, SIGKILL while waiting, then a new process',
    rounds: 5,
    figures: [
      {
        name: 'doneMs',
        title: 'engine start to result',
        unit: 'ms',
        better: 'less',
        target: { sqlite: 30, postgres: 60 },
      },
      { name: 'readyMs', title: 'of which starting the engine', unit: 'ms', better: 'less' },
    ],
  },
  {
    name: 'W7',
    title: '1,000 waiting runs',
    rounds: 3,
    fresh: true,
    figures: [{ name: 'addedMb', title: 'resident memory added', unit: 'MB', better: 'less' }],
  },
]
