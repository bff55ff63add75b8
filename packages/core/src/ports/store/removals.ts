import type { AskRow } from './asks.ts'
import type { OutgoingMessage } from './mail.ts'
import type { EndState, RunKey } from './runs.ts'

/** Removes runs, and keeps the decisions that people made in them. */
export interface RemovalStore {
  /**
   * Removes runs that have ended: from then on no call finds them, and their ids are free. Their answered asks become
   * decisions in the same transaction. Their events and messages are left to `clear`.
   */
  remove(runs: readonly RunKey[]): Promise<readonly Removed[]>
  /**
   * Removes a quarantined run as `remove` does, and leaves messages for the runs that wait for its end, in one transaction: they
   * hear of an end only if the run cannot continue. A run that cannot get its message is passed over.
   */
  removeQuarantined(removal: QuarantinedRemoval): Promise<Exclude<Removed, 'live'> | 'changed'>
  /**
   * Deletes what removed runs have left behind, and copies whose first part is older than `copyKeptMs`: at most `limit`
   * events and as many messages. Returns whether there is more.
   */
  clear(limit: number): Promise<boolean>
  /**
   * Deletes events of the oldest generation of a run whose next generation began before an instant: at most `limit`. The
   * present generation is never touched. Returns their number: 0 if there is no such generation.
   */
  dropGeneration(run: RunKey, before: number, limit: number): Promise<number>
  /** Lists runs among the `span` newest runs below a key, the newest first. Null: among the newest of all. */
  ended(before: RunKey | null, span: number): Promise<EndedPage>
  /** Lists decisions of removed runs, those of the newest run first. */
  decisions(query: DecisionQuery): Promise<readonly DecisionRow[]>
  /** Stores the digests of decisions that have none. */
  sealDecisions(seals: readonly DecisionSeal[]): Promise<void>
  /** Deletes the decisions of a procedure whose asks were closed before an instant, at most `limit`. Returns their number. */
  forgetDecisions(procedure: string, before: number, limit: number): Promise<number>
  /** Lists the procedures that have decisions. */
  decidedProcedures(): Promise<readonly string[]>
}

/** The outcome of a removal. 'live': the run has not ended. */
export type Removed = 'removed' | 'live' | 'missing'

/** The removal of a quarantined run. It is 'changed' if it is not quarantined any more, or its mail counter is not `seen`. */
export interface QuarantinedRemoval {
  readonly run: RunKey
  /** The mail counter that the messages were based on: a run that waits for the end since then would not be told. */
  readonly seen: number
  /** Each of kind 'ended'. */
  readonly messages: readonly OutgoingMessage[]
}

/** A part of the runs by their keys. */
export interface EndedPage {
  /** The runs that have ended. */
  readonly runs: readonly EndedRun[]
  /** The live runs that have an earlier generation. */
  readonly continued: readonly ContinuedRun[]
  /** Where the next part begins; null at the end. */
  readonly next: RunKey | null
}

/** A run that has ended. */
export interface EndedRun {
  readonly run: RunKey
  readonly id: string
  readonly procedure: string
  readonly state: EndState
  readonly endedAt: number
  /** The id of the run that created it; null if a caller did. */
  readonly parent: string | null
}

/** A live run that has an earlier generation. */
export interface ContinuedRun {
  readonly run: RunKey
  readonly procedure: string
}

/** An answered ask of a removed run. */
export interface DecisionRow extends AskRow {
  /** Core's digest of the row; null until it is sealed, and for decisions of earlier versions. */
  readonly digest: Uint8Array | null
}

/** The digest of a decision. */
export interface DecisionSeal {
  readonly run: RunKey
  readonly position: number
  readonly digest: Uint8Array
}

/** Selects a page of decisions; null means any. */
export interface DecisionQuery {
  /** The id of the run. */
  readonly run: string | null
  readonly procedure: string | null
  /** Where the previous page ended. */
  readonly before: { readonly run: RunKey; readonly position: number } | null
  readonly limit: number
}
