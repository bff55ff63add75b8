import type { Claimant, Claimed, Damaged, RunKey } from '@pawl/core/storage'
import { type Connection, UnknownOutcome } from './connection/connection.ts'
import { pauseAfterFault } from './connection/retry.ts'
import { isRefusedByRow } from './faults.ts'
import type { Statements } from './statements.ts'
import type { Isolate } from './writes/isolate.ts'
import type { Grant } from './writes/reclaim.ts'

/** Runs transactions that need a follow-up if the disk fails during their commit. */
export class Transactions {
  readonly #connection: Connection<Statements>

  constructor(connection: Connection<Statements>) {
    this.#connection = connection
  }

  /**
   * Runs a transaction that may grant runs to a worker. If its outcome is unknown, the worker never learns of the grants,
   * so the runs are handed back. Otherwise they would wait until the worker dies.
   */
  async granting<T>(
    work: (statements: Statements, at: number) => { readonly result: T; readonly granted: readonly Grant[] },
  ): Promise<T> {
    let granted: readonly Grant[] = []
    try {
      return await this.#connection.write((statements, at) => {
        const done = work(statements, at)
        granted = done.granted
        return done.result
      })
    } catch (error) {
      if (error instanceof UnknownOutcome && granted.length > 0) {
        await this.untilDone(({ disown }, at) => granted.map((grant) => disown(grant, at)))
      }
      throw error
    }
  }

  /**
   * Writes items for runs in one transaction, then claims their runs for the claimant. If damaged rows of a run refuse an
   * item, all items are written again, each in a savepoint. Batches without damage avoid the cost of savepoints.
   */
  async delivering<Item, Outcome extends { readonly outcome: string }>(
    items: readonly Item[],
    claimant: Claimant | null,
    write: (statements: Statements, item: Item, at: number) => Outcome,
  ): Promise<readonly (Outcome | Damaged)[]> {
    const deliver = (isIsolated: boolean): Promise<readonly (Outcome | Damaged)[]> =>
      this.granting((statements, at) => {
        const isolate: Isolate = isIsolated ? statements.isolate : (work) => work()
        const outcomes = items.map((item) => isolate(() => write(statements, item, at)))
        const claiming = new Claiming(statements, claimant, at)
        const take = (run: RunKey): Claimed | null => {
          const claimed = isolate(() => claiming.take(run))
          return claimed !== null && 'outcome' in claimed ? null : claimed
        }
        const result = outcomes.map((one) => (isDelivered(one) ? { ...one, claimed: take(one.run) } : one))
        return { result, granted: claiming.granted }
      })
    return deliver(false).catch((error: unknown) => {
      if (!isRefusedByRow(error)) throw error
      return deliver(true)
    })
  }

  /** Retries a transaction until the disk accepts it. `work` receives the number of earlier attempts. */
  async untilDone<T>(work: (statements: Statements, at: number, tries: number) => T): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.#connection.write((statements, at) => work(statements, at, tries))
      } catch (error) {
        if (!this.#connection.isUsable) throw error
        await pauseAfterFault(tries, this.#connection.file)
      }
    }
  }
}

function isDelivered(outcome: object): outcome is { readonly run: RunKey } {
  return 'run' in outcome
}

/** Claims runs within a transaction and collects the grants. */
export class Claiming {
  readonly granted: Grant[] = []
  readonly #statements: Statements
  readonly #claimant: Claimant | null
  readonly #at: number

  constructor(statements: Statements, claimant: Claimant | null, at: number) {
    this.#statements = statements
    this.#claimant = claimant
    this.#at = at
  }

  take(run: RunKey): Claimed | null {
    if (!this.#claimant) return null
    const claimed = this.#statements.claims.claim(run, this.#claimant, this.#at)
    if (claimed) this.granted.push({ ...claimed, worker: this.#claimant.worker })
    return claimed
  }
}
