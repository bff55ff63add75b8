import type { Claimant, Claimed } from './claims.ts'
import type { EndState, RunKey } from './runs.ts'
import type { WorkerKey } from './workers.ts'

/** Messages to runs. */
export interface MailStore {
  /** Leaves messages for runs: raises the mail counter and, for a live run that nobody owns and that is not marked, sets it due now. */
  send(messages: readonly NewMessage[], claimant: Claimant | null): Promise<readonly Sent[]>
  /** Messages not yet consumed with a number above `after`, in order. */
  mail(run: RunKey, after: number): Promise<readonly Message[]>
  /** The mail counters of the runs a worker owns: the truth behind lost hints. */
  mailOf(worker: WorkerKey): Promise<readonly { readonly run: RunKey; readonly mail: number }[]>
}

export interface NewMessage {
  readonly run: string
  /** 'early': an answer by the key of an ask that is not open yet. */
  readonly kind: 'signal' | 'early'
  /** The signal's name, or the ask's key. */
  readonly name: string
  /** Sent twice with one key, it is kept once. Keys are per run; core prefixes them by kind. */
  readonly key: string | null
  readonly payload: Uint8Array | null
}

export type Sent =
  /** `claimed`: the run was due and the claimant got it in the same transaction. */
  | {
      readonly outcome: 'stored' | 'duplicate'
      readonly run: RunKey
      /** As it was left; null if it was not by this call, or that is not known. */
      readonly message: Message | null
      readonly claimed: Claimed | null
    }
  /** An early answer to an ask that is there: answer that one instead. */
  | { readonly outcome: 'asked'; readonly position: number }
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'ended'; readonly state: EndState }
  | Damaged

export interface Message {
  /** The mail counter when it came; increasing, not dense. */
  readonly n: number
  readonly at: number
  readonly kind: 'signal' | 'early' | 'answer'
  /** The signal's name, the ask's key, or the ask's position as text. */
  readonly name: string
  readonly payload: Uint8Array | null
}

/** The rows of the run contradict themselves, or a later version wrote them. Nothing was left for it. */
export interface Damaged {
  readonly outcome: 'damaged'
  /** Completes "Run x is quarantined: …". */
  readonly why: string
}
