import type { Spread } from '../base/statistics.ts'

/** What was measured of one peer. */
export interface PeerMeasured {
  readonly peer: string
  readonly about: PeerAbout | null
  readonly results: readonly PeerResult[]
  /** Why it did not start; null: it did. */
  readonly refusal: string | null
}

/** What a peer's program in bench/peers says of it. */
export interface PeerAbout {
  readonly title: string
  readonly version: string
  /** On which Node it ran: not always that of the bench. */
  readonly node: string
  readonly settings: string
  /** What survives a SIGKILL, and what a loss of power, by its documentation and these settings. */
  readonly onKill: string
  readonly onPowerLoss: string
  /** Its settings for the lowest latency, where they are others. */
  readonly eager?: string
  /** What of it was not measured quite like that of the others. */
  readonly limit?: string
}

export interface PeerResult {
  readonly workload: string
  readonly figures: readonly PeerFigure[]
  /** What has to be known of them, or why there are none. */
  readonly note: string | null
  /** It failed, or did less than was asked; the note says how. */
  readonly hasFailed: boolean
}

export interface PeerFigure {
  readonly name: string
  readonly title: string
  readonly unit: string
  readonly better: 'more' | 'less'
  readonly spread: Spread
}
