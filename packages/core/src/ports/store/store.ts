import type { AskStore } from './asks.ts'
import type { CheckpointStore } from './checkpoints.ts'
import type { ClaimStore } from './claims.ts'
import type { CopyStore } from './copies.ts'
import type { FeedStore } from './feed.ts'
import type { LogStore } from './log.ts'
import type { MailStore } from './mail.ts'
import type { NoticeStore } from './notices.ts'
import type { RemovalStore } from './removals.ts'
import type { RunStore } from './runs.ts'
import type { StateStore } from './states.ts'
import type { SuspectStore } from './suspects.ts'
import type { WorkerStore } from './workers.ts'

/**
 * The operations of a store, by concern. A store contains SQL and handles the quirks of a driver; core makes every decision.
 * `storeConformance` of `@pawl/testing` is the specification of this port.
 *
 * Every write takes a list and is one transaction. Each item is all-or-nothing and has its own outcome; a rejected item
 * leaves no row and does not affect the others. Nothing is reported before it is durable. Times are ms since 1970 by
 * the store's clock.
 */
export interface StorePort extends Partial<OptionalConcerns> {
  /** The maximum number of concurrent calls of `log.commit`. Default: 1. */
  readonly commitsInFlight?: number

  /**
   * Connects, checks that the store is usable, and migrates it. May be called again after a failure.
   * @param forWorker whether a worker will use it, which needs several connections. Default: false.
   * @throws PawlError 'store-unusable' with the remedy
   */
  open(forWorker?: boolean): Promise<void>
  close(): Promise<void>
  now(): Promise<number>
  /** Returns the key of the ids of asks: random, and the same for all connections and for copies of the store. */
  askIdKey(): Promise<string>
  /** Calls back when another process may have changed the store; hints may be wrong, late or lost. Returns a function that stops it. */
  watch(onHint: () => void): () => void

  readonly workers: WorkerStore
  readonly runs: RunStore
  readonly claims: ClaimStore
  readonly log: LogStore
  readonly mail: MailStore
  readonly states: StateStore
  readonly asks: AskStore
  readonly feed: FeedStore
}

/** The concerns that a store may lack. What needs one then fails; see `concernOf`. */
export interface OptionalConcerns {
  /** Without it, runs cannot be exported, imported or forked. */
  readonly copies: CopyStore
  /** Without it, runs and what they leave behind are kept for ever. */
  readonly removals: RemovalStore
  /** Without it, no unit has an effect 'checkpoint'. */
  readonly checkpoints: CheckpointStore
  /** Without it, no unit has an effect 'notify'. */
  readonly notices: NoticeStore
  /** Without it, a run that kills its workers is claimed again and again. */
  readonly suspects: SuspectStore
}

/** A store that lacks no concern. */
export type WholeStore = StorePort & OptionalConcerns
