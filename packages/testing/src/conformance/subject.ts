import type { AskStatus, LogEvent, Mark, Message, RunState, Store } from '@pawl/core/storage'

/** A store under test. */
export interface StoreSubject {
  /** Stands above every test, so that a failure names the store. */
  readonly name: string
  /** A place with nothing in it; called once per test. */
  make(): Promise<Place> | Place
}

/** One empty store for one test. */
export interface Place {
  /** Every connection to this one value must see the same data. */
  readonly store: Store
  /** Everything that is kept, read behind the port's back. */
  dump(): Promise<Dump> | Dump
  /** Spoils the row of a run behind the port's back. Returns how to put it right. */
  damage(run: string, how: Damage): Promise<() => Promise<void> | void> | (() => Promise<void> | void)
  /** Removes the place; all connections are closed by then. */
  remove(): Promise<void> | void
}

/**
 * `mail-behind`: the mail counter is 0 although there are messages. `mail-full`: it is the largest number that its
 * column holds. `unknown-state`: its state is a number that this version does not know.
 */
export type Damage = 'mail-behind' | 'mail-full' | 'unknown-state'

/** What a store keeps, in the words of the port. Lists are in order: runs by key, the others by run and number. */
export interface Dump {
  readonly runs: readonly DumpedRun[]
  readonly events: readonly (LogEvent & { readonly run: number })[]
  readonly messages: readonly DumpedMessage[]
  readonly asks: readonly DumpedAsk[]
}

/** The stored data of a run. */
export interface DumpedRun {
  readonly run: number
  readonly id: string
  readonly procedure: string
  readonly version: number | null
  readonly state: RunState
  readonly mark: Mark
  readonly worker: number | null
  readonly wakeAt: number | null
  readonly cancelAt: number | null
  readonly epoch: number
  readonly head: number
  readonly mail: number
  readonly tries: number
  /** This and the next two: 0 or false unless it is a suspect. */
  readonly positives: number
  readonly alone: number
  /** Its owner tests it. */
  readonly tested: boolean
  readonly link: Uint8Array
  readonly info: Uint8Array | null
}

/** The stored data of a message. */
export interface DumpedMessage {
  readonly run: number
  readonly n: number
  readonly kind: Message['kind']
  readonly name: string
  readonly key: string | null
  readonly used: boolean
  /** Null once it is used. */
  readonly payload: Uint8Array | null
}

/** The stored data of an ask. */
export interface DumpedAsk {
  readonly run: number
  readonly position: number
  readonly status: AskStatus
  readonly kind: string
  readonly key: string | null
  readonly answeredBy: string | null
  readonly payload: Uint8Array
  readonly answer: Uint8Array | null
}
