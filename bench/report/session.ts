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
}
