import type { PeerMeasured } from '../comparison/peer.ts'
import type { Measured } from '../measure.ts'
import type { Machine } from './machine.ts'

/** One run of the bench, as it is written. */
export interface Session {
  readonly date: string
  readonly command: string
  readonly machine: Machine
  readonly measured: readonly Measured[]
  readonly peers: readonly PeerMeasured[]
  readonly parts: readonly Part[]
}

/** A benchmark of one part. */
export interface Part {
  readonly name: string
  readonly figures: readonly PartFigure[]
}

export interface PartFigure {
  readonly what: string
  /** The best of several rounds. */
  readonly nsPerEvent: number
  readonly cpuNsPerEvent: number
  /** Events a second. */
  readonly aim: number | null
}
