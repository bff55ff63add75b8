import type { Address } from './places/place.ts'

/** A figure of a case, what it is called, and what it has to reach. */
export interface FigureSpec {
  readonly name: string
  readonly title: string
  readonly unit: string
  readonly better: 'more' | 'less'
  /** False for a figure that says nothing about the engine, or that varies too much to compare. Default true. */
  readonly isCompared?: boolean
  /** What must be reached on each store. */
  readonly target?: { readonly [kind in Address['kind']]?: number }
}

export const p50: FigureSpec = { name: 'p50Ms', title: 'p50', unit: 'ms', better: 'less' }
export const p99: FigureSpec = {
  name: 'p99Ms',
  title: 'p99',
  unit: 'ms',
  better: 'less',
  isCompared: false,
}
export const steps: FigureSpec = {
  name: 'stepsPerSecond',
  title: 'throughput',
  unit: 'steps/s',
  better: 'more',
}
export const raw: FigureSpec = {
  name: 'rawPerSecond',
  title: 'raw commits of one row beside it',
  unit: '/s',
  better: 'more',
  isCompared: false,
}
export const cpu: FigureSpec = {
  name: 'cpuUsPerStep',
  title: 'processor time of the engine',
  unit: 'µs/step',
  better: 'less',
}

export const serverCpu: FigureSpec = {
  name: 'serverUsPerStep',
  title: 'processor time of the server',
  unit: 'µs/step',
  better: 'less',
}

export const callCpu: FigureSpec = {
  name: 'cpuUsPerCall',
  title: 'processor time of the engine',
  unit: 'µs',
  better: 'less',
}

export const ratio: FigureSpec = {
  name: 'ratio',
  title: 'over raw commits',
  unit: '×',
  better: 'more',
  isCompared: false,
}
