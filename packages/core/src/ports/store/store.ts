import type { AskStore } from './asks.ts'
import type { ClaimStore } from './claims.ts'
import type { LogStore } from './commit.ts'
import type { MailStore } from './mail.ts'
import type { RunStore } from './runs.ts'
import type { WorkerStore } from './workers.ts'

/**
 * What a store does for the engine. A store holds SQL and the quirks of a driver; every decision is core's.
 * `storeConformance` of `@pawl/testing` is the specification of this port.
 *
 * Every write takes a list and is one transaction: each item of it is all-or-nothing and has its own
 * outcome, and a refused item neither leaves a row nor harms its neighbours. Nothing is reported before it
 * is durable. Times are ms since 1970 by the store's clock.
 */
export interface StorePort extends WorkerStore, RunStore, ClaimStore, LogStore, MailStore, AskStore {
  /** How many calls of `commit` may be under way at once. Default 1. */
  readonly commitsInFlight?: number

  /**
   * Connects, checks that the store is fit for use, and migrates it. Once it has failed it may be called again.
   * @param forWorker a worker follows, which needs several connections at once. Default false.
   * @throws PawlError 'store-unusable' with the remedy
   */
  open(forWorker?: boolean): Promise<void>
  close(): Promise<void>
  now(): Promise<number>

  /** Calls back when something may have changed in the store by another process; may lie, late or never. Returns how to end it. */
  watch(onHint: () => void): () => void
}
