import type { AskStatus, LogEvent, Mark, Message, RunState, Store } from '@pawl/core/storage'

/** A store under test. */
export interface StoreSubject {
  /** Name of the store, shown with every test. */
  readonly name: string
  /** Creates an empty place; called once per test. */
  make(): Promise<Place> | Place
}

/** An empty store for one test. */
export interface Place {
  /** The store. All connections to it must see the same data. */
  readonly store: Store
  /** Returns all stored data, read directly from the tables. */
  dump(): Promise<Dump> | Dump
  /** Damages the row of a run directly in the tables. Returns a function that repairs it. */
  damage(run: string, how: Damage): Promise<() => Promise<void> | void> | (() => Promise<void> | void)
  /** Removes the place, after all connections are closed. */
  remove(): Promise<void> | void
}

/**
 * `mail-behind`: the mail counter is 0 although there are messages. `mail-full`: it is the largest number that its
 * column holds. `unknown-state`: its state is a number that this version does not know.
 */
export type Damage = 'mail-behind' | 'mail-full' | 'unknown-state'

/** All data of a store in the types of the port. Runs are sorted by key, other lists by run and number. */
export interface Dump {
  readonly runs: readonly DumpedRun[]
  readonly events: readonly (LogEvent & { readonly run: number })[]
  readonly messages: readonly DumpedMessage[]
  readonly asks: readonly DumpedAsk[]
  readonly states: readonly DumpedState[]
  readonly checkpoints: readonly DumpedCheckpoint[]
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
  readonly base: number
  readonly mail: number
  readonly tries: number
  /** This field and the next two are 0 or false unless the run is a suspect. */
  readonly positives: number
  readonly alone: number
  /** Whether its owner tests it. */
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
  readonly by: string | null
  readonly used: boolean
  /** Null once the message is used, or its reply. */
  readonly payload: Uint8Array | null
}

/** An exposed value as stored. */
export interface DumpedState {
  readonly run: number
  readonly name: string
  readonly payload: Uint8Array | null
}

/** A checkpoint as stored, sorted by run and slot. */
export interface DumpedCheckpoint {
  readonly run: number
  readonly slot: number
  readonly position: number
  readonly seq: number | null
  readonly name: string | null
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
