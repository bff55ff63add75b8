import type { Claimant, Claimed } from './claims.ts'
import type { EndState, RunKey } from './runs.ts'
import type { WorkerKey } from './workers.ts'

/** Stores messages to runs. */
export interface MailStore {
  /** Stores messages and raises the mail counter. A live run without an owner or a mark becomes due now. */
  send(messages: readonly NewMessage[], claimant: Claimant | null): Promise<readonly Sent[]>
  /**
   * Requests that a run is cancelled: stores a message of kind 'cancel' and when it came, once for each run, and raises the
   * mail counter. A live run without an owner becomes due now, also if it is stuck.
   */
  cancel(request: NewCancel, claimant: Claimant | null): Promise<Cancelled>
  /**
   * Holds back the {@link heldKinds} for a run that its worker owns, for at most `forMs`: their senders try again. So a
   * strict unit is written however many clients send. All other messages are stored. A hold is over when its time has passed
   * by the store's clock, when the run has another owner or none, or with `forMs` 0. Returns the mail counter, which only
   * other kinds raise from now on; null if the worker does not own the run in this epoch.
   */
  hold(worker: WorkerKey, run: RunKey, epoch: number, forMs: number): Promise<number | null>
  /** Returns the unconsumed messages numbered above `after`, in order. */
  list(run: RunKey, after: number): Promise<readonly Message[]>
  /** Returns the reply to the message of a run with this key; null while there is none. */
  reply(run: RunKey, key: string): Promise<Uint8Array | null>
  /** Returns the mail counters of the runs a worker owns, in case a hint was lost. */
  counters(worker: WorkerKey): Promise<readonly { readonly run: RunKey; readonly mail: number }[]>
}

/** A message to be stored. */
export interface NewMessage {
  readonly run: string
  /** 'early': an answer by the key of an ask that is not open yet. 'update': its key is the one that its reply is found by. */
  readonly kind: 'signal' | 'early' | 'update' | 'ended'
  /** The name of the signal or update, or the ask's key. */
  readonly name: string
  /** The idempotency key: a second message with the same key is not stored. Unique per run; core prefixes it by kind. */
  readonly key: string | null
  /** Who sends a signal or an update, if the caller said so. */
  readonly by: string | null
  readonly payload: Uint8Array | null
}

/** A message from one run to another, which is stored with the events of its sender. */
export interface OutgoingMessage extends Omit<NewMessage, 'kind'> {
  /**
   * 'cancel' requests that the run is cancelled, as {@link MailStore.cancel} does. Its name is empty, its key `cancelKey`. A
   * quarantined run refuses one that must arrive; any other is stored, and the run does not become due.
   */
  readonly kind: Exclude<Message['kind'], 'early' | 'answer' | 'update'>
  /** Whether the unit is refused if there is no such live run and none that has got a message with this key. */
  readonly must: boolean
}

/** A request that a run is cancelled. */
export interface NewCancel {
  readonly run: string
  /** Who requests it, and why. */
  readonly payload: Uint8Array | null
}

/** The outcome of a request that a run is cancelled. 'duplicate': there was a request before. */
export type Cancelled =
  | Exclude<Sent, { readonly outcome: 'asked' | 'held' }>
  /** Nothing was stored: nothing is written to a quarantined run. */
  | { readonly outcome: 'quarantined' }

/** The outcome of a message. */
export type Sent =
  /** `claimed`: the run was due and the claimant got it in the same transaction. */
  | {
      readonly outcome: 'stored' | 'duplicate'
      readonly run: RunKey
      /** The stored message; null if another call stored it, or if it is unknown. */
      readonly message: Message | null
      readonly claimed: Claimed | null
    }
  /** An early answer to an ask that is already open: answer that ask instead. */
  | { readonly outcome: 'asked'; readonly position: number }
  | { readonly outcome: 'missing' }
  /** Nothing was stored: the run takes messages of this kind later. See {@link MailStore.hold}. */
  | { readonly outcome: 'held' }
  | { readonly outcome: 'ended'; readonly state: EndState }
  | Damaged

/** A stored message. */
export interface Message extends Omit<NewMessage, 'run' | 'kind' | 'key'> {
  /** The mail counter when it arrived; increasing, with gaps. */
  readonly n: number
  readonly at: number
  /** 'ended': a run that it waits for has ended. 'watch': another run waits for the end of this one. */
  readonly kind: 'signal' | 'early' | 'answer' | 'cancel' | 'ended' | 'watch' | 'update'
  /** The name of the signal or update, the ask's key, or the position of the ask, as its row has it, or of the waiting operation as text. */
  readonly name: string
}

/** The rows of the run are inconsistent, or a later version wrote them. Nothing was stored. */
export interface Damaged {
  readonly outcome: 'damaged'
  /** Completes "Run x is quarantined: …". */
  readonly why: string
}
