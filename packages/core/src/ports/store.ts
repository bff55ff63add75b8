import type { AskStatus, RunStatus } from '../base/words.ts'
import type { NewEvent, StoredEvent } from '../events/event.ts'

/**
 * What a store does for the engine. A store holds SQL and the quirks of a driver; every decision is core's.
 * `storeConformance` of `@pawl/testing` is the specification of this port.
 *
 * Every write takes a list and is one transaction: each item of it is all-or-nothing and has its own
 * outcome, and a refused item neither leaves a row nor harms its neighbours. Nothing is reported before it
 * is durable. Times are ms since 1970 by the store's clock.
 */
export interface StorePort {
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

  // ── workers
  /** Makes a new worker row; a worker that was declared dead registers anew and never comes back as the old one. */
  register(worker: NewWorker): Promise<WorkerKey>
  /** Renews the lease. False: this worker was declared dead and owns nothing any more. */
  beat(worker: WorkerKey): Promise<boolean>
  /**
   * Declares workers dead whose lease has run out (or whose process is gone, where that can be known) and
   * hands the runs of all dead workers back: unowned, due now, epoch raised, `tries` raised. Returns how
   * many runs it handed back. Never waits for a locked row; what it misses the next sweep finds.
   *
   * A worker that tested runs when it was declared dead raises the `positives` of these. If there was only one,
   * its `alone` is raised too. The `alone` of the runs it owned beside them falls to 0.
   */
  sweep(): Promise<number>
  /** What the live workers can execute, all together: their leases run. Null: one of them has not said. */
  abilities(): Promise<readonly ProcedureVersions[] | null>
  /** A graceful stop: hands all runs of the worker back (epoch raised, `tries` kept) and declares it dead. */
  release(worker: WorkerKey): Promise<void>

  // ── the writes
  /**
   * Creates runs, at epoch 1, with their first event: seq 0, of epoch 1, or 0 where nobody owns the run. One whose id is
   * taken is not created.
   */
  create(runs: readonly NewRun[]): Promise<readonly Created[]>
  /** Appends to the logs of runs the worker owns, with everything that follows from the events. At most one unit of a run in a call. */
  commit(worker: WorkerKey, units: readonly Unit[]): Promise<readonly UnitOutcome[]>
  /** Leaves messages for runs: raises the mail counter and, for a live run that nobody owns and that is not marked, sets it due now. */
  send(messages: readonly NewMessage[], claimant: Claimant | null): Promise<readonly Sent[]>
  /** Closes open asks with an answer and leaves it as a message of kind 'answer'. Of several answers to one ask exactly one wins. */
  answer(answers: readonly NewAnswer[], claimant: Claimant | null): Promise<readonly Answered[]>
  /**
   * Parks a run until a person or a deploy puts it right: unowned, not due, epoch raised. False: not the owner any more.
   * @param cause only of a quarantine
   */
  mark(
    worker: WorkerKey,
    run: RunKey,
    epoch: number,
    mark: Exclude<Mark, 'none'>,
    reason: Uint8Array,
    cause?: QuarantineCause,
  ): Promise<boolean>

  // ── ownership
  /** Takes due runs that the claimant can execute, the longest due first: owned, epoch raised, not due. */
  claim(claimant: Claimant, limit: number): Promise<Claims>
  /** The due suspects that the claimant can execute: those with the most `positives` first, then the longest due. */
  suspects(claimant: Claimant, limit: number): Promise<readonly Suspect[]>
  /** Takes these runs, as far as they are due and the claimant can execute them. Its choice of suspects does not matter. */
  take(claimant: Claimant, runs: readonly RunKey[]): Promise<readonly Claimed[]>
  /** Ends the test of all runs that the worker tests: it keeps them, and its death says nothing about them. */
  endTest(worker: WorkerKey): Promise<void>
  /** The due runs that no worker owns, by procedure and version. */
  backlog(): Promise<readonly Backlog[]>
  /** Sets the stuck runs of the claimant's procedures due, so that they are tried again. Returns how many. */
  retryStuck(claimant: Claimant): Promise<number>
  /**
   * Sets one marked run due now, for any worker that can execute it: a stuck one as it is, a quarantined one without its mark
   * and with `tries` at 0, so that it is no suspect. False: it has not this mark any more, has ended, or is owned.
   */
  retry(run: RunKey, mark: Exclude<Mark, 'none'>): Promise<boolean>
  /** The mail counters of the runs a worker owns: the truth behind lost hints. */
  mailOf(worker: WorkerKey): Promise<readonly { readonly run: RunKey; readonly mail: number }[]>

  // ── reads
  /** Events of a log from `seq` on, in order, at most `limit`: as they are stored, whatever they have become. */
  load(run: RunKey, seq: number, limit: number): Promise<readonly StoredEvent[]>
  /** Messages not yet consumed with a number above `after`, in order. */
  mail(run: RunKey, after: number): Promise<readonly Message[]>
  find(id: string): Promise<RunRow | null>
  /** Newest first. */
  runs(filter: RunQuery): Promise<readonly RunRow[]>
  ask(run: string, position: number): Promise<AskRow | null>
  askByKey(run: string, key: string): Promise<AskRow | null>
  /** The most urgent first; see {@link AskOrder}. */
  asks(filter: AskQuery): Promise<readonly AskRow[]>

  // ── hints
  /** Calls back when something may have changed in the store by another process; may lie, late or never. Returns how to end it. */
  watch(onHint: () => void): () => void
}

/** The small number a run has inside its store; the text id stands once, in `runs`. */
export type RunKey = number
/** One per registration of a worker, never reused. */
export type WorkerKey = number

export interface NewWorker {
  /** For people: host and process. */
  readonly name: string
  readonly leaseMs: number
  /** What it can execute, for others to see. Default: it does not say. */
  readonly procedures?: readonly ProcedureVersions[]
}

/** Who claims, and what it can execute. */
export interface Claimant {
  readonly worker: WorkerKey
  readonly procedures: readonly ProcedureVersions[]
  /** Which suspects it takes; 'unblamed': those without `positives`. Default: 'all'. */
  readonly suspects?: 'all' | 'unblamed' | 'none'
}
export interface ProcedureVersions {
  readonly name: string
  /** A run that has no version yet gets the highest when it is claimed. */
  readonly versions: readonly number[]
}

/** Final statuses are kept; whether a live run is running or waiting is read from who owns it. */
export type RunState = 'live' | 'completed' | 'failed' | 'cancelled'
export type EndState = Exclude<RunState, 'live'>
export type Mark = 'none' | 'stuck' | 'quarantined'
/** `damage`: the log or a message fails its checks. `crashes`: workers died over the run. `fault`: Pawl failed on its data. */
export type QuarantineCause = 'damage' | 'crashes' | 'fault'

export interface NewRun {
  readonly id: string
  readonly procedure: string
  /** Null when the starter does not know the code: fixed at the first claim. */
  readonly version: number | null
  readonly started: NewEvent
  /** The hash of the log after that event. */
  readonly link: Uint8Array
  /** The worker that will run it: created already claimed. Null: due at once, for any worker. */
  readonly worker: WorkerKey | null
  readonly tags: readonly string[]
  readonly startedBy: string | null
}
export type Created =
  | { readonly outcome: 'created'; readonly run: RunKey; readonly at: number }
  | { readonly outcome: 'exists'; readonly run: RunKey }

/** What one run writes in one go. Written only if epoch, head and worker still match the run's row and the run is live. */
export interface Unit {
  readonly run: RunKey
  readonly epoch: number
  /** How many events the log has; the first new event gets this seq. */
  readonly head: number
  /** With the seal where one ends: `seals[i]` belongs to `events[i]`. */
  readonly events: readonly NewEvent[]
  readonly seals: readonly (Uint8Array | null)[]
  /** The hash of the log after these events; null when there are none. */
  readonly link: Uint8Array | null
  /** The mail counter the decision was based on. */
  readonly seen: number
  /** Refused with 'mail' if a message has come since: for what closes an ask, fires a timeout, or ends the run. */
  readonly strict: boolean
  /**
   * keep: stay the owner. park: let go until `wakeAt` (null: until a message), but only if no message has
   * come since `seen`; otherwise the events are written and the run stays owned. end: never runs again.
   */
  readonly next:
    | { readonly do: 'keep' }
    | { readonly do: 'park'; readonly wakeAt: number | null }
    | { readonly do: 'end'; readonly state: EndState }
  /** What else changes, in order. Empty for most units: a plain step has none. */
  readonly effects: readonly Effect[]
}

/** What a unit changes beside its events and the row of its run. */
export type Effect =
  | { readonly do: 'open-ask'; readonly ask: NewAsk }
  | { readonly do: 'close-ask'; readonly position: number; readonly status: 'timed-out' | 'withdrawn' }
  /** Marks a message as used: these events record it. */
  | { readonly do: 'consume'; readonly n: number }
  /** Replaces what lists show of the run (`RunInfo` of events/payloads). At most one in a unit. */
  | { readonly do: 'show'; readonly info: Uint8Array }
export type UnitOutcome =
  /** Written. `epoch` differs from the unit's if the outcome had to be found out by claiming again. */
  | {
      readonly outcome: 'ok'
      readonly at: number
      readonly epoch: number
      readonly mail: number
      readonly parked: boolean
    }
  /** Not written and never will be; the worker still owns the run, with this epoch. */
  | { readonly outcome: 'lost'; readonly epoch: number }
  /** Another owner. Nothing was written. */
  | { readonly outcome: 'fenced' }
  /** The seq is taken although the fence held: the log is damaged. Nothing was written. */
  | {
      readonly outcome: 'conflict'
      /** What else kept it from being written, where it was not the head. */
      readonly why?: string
    }
  /** A strict unit met a message it had not seen. Nothing was written. */
  | { readonly outcome: 'mail'; readonly mail: number }

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

export interface NewAnswer {
  readonly run: string
  readonly position: number
  readonly by: string
  readonly payload: Uint8Array
}
export type Answered =
  | {
      readonly outcome: 'answered'
      readonly run: RunKey
      /** As it was left; null if it was not by this call, or that is not known. */
      readonly message: Message | null
      readonly claimed: Claimed | null
    }
  /** The ask is not open any more, or its time has run out (`closesAt` reached). */
  | { readonly outcome: 'closed'; readonly ask: AskRow }
  | { readonly outcome: 'missing' }
  | Damaged
/** The rows of the run contradict themselves, or a later version wrote them. Nothing was left for it. */
export interface Damaged {
  readonly outcome: 'damaged'
  /** Completes "Run x is quarantined: …". */
  readonly why: string
}

export interface Message {
  /** The mail counter when it came; increasing, not dense. */
  readonly n: number
  readonly at: number
  readonly kind: 'signal' | 'early' | 'answer'
  /** The signal's name, the ask's key, or the ask's position as text. */
  readonly name: string
  readonly payload: Uint8Array | null
}

export interface Claimed {
  readonly run: RunKey
  readonly id: string
  readonly procedure: string
  readonly version: number
  readonly epoch: number
  readonly head: number
  readonly mail: number
  /** How often in a row it was taken from a dead worker; a commit sets it to 0. From {@link suspectTries} on it is a suspect, and tested. */
  readonly tries: number
  /** Of a suspect: how many of its tests its worker died in. */
  readonly positives: number
  /** Of a suspect: in how many of these it was the only run that its worker tested. */
  readonly alone: number
  readonly mark: Mark | number
  readonly link: Uint8Array
}
export interface Claims {
  readonly runs: readonly Claimed[]
  readonly at: number
  /** When the next unowned run is due that the claimant would take; null if none is. */
  readonly nextDueAt: number | null
  /** Whether there are due suspects that this claimant does not take; perhaps it could not execute them. */
  readonly leavesSuspects: boolean
}

/** A suspect that no worker owns. */
export interface Suspect extends Pick<Claimed, 'run' | 'tries' | 'positives' | 'alone'> {
  /** Due since then. Suspects that one death has blamed are due since the same instant. */
  readonly dueAt: number
}

/** Due runs of one procedure and version. */
export interface Backlog {
  readonly procedure: string
  /** Null: they have no version yet. */
  readonly version: number | null
  /** The id of the one that has been due longest. */
  readonly oldest: string
  /** How many there are; no more than 1,000 are counted. */
  readonly count: number
}

/**
 * A run as it is stored, whatever has become of its row: a store leaves it to core what cannot be understood. A number
 * stands for a word that this version does not know, and null for a list that is none.
 */
export interface RunRow {
  readonly run: RunKey
  readonly id: string
  readonly procedure: string
  readonly version: number | null
  readonly state: RunState | number
  readonly mark: Mark | number
  /** Why it is marked. */
  readonly reason: Uint8Array | null
  /** Of a quarantine; null if it was marked before causes were stored. */
  readonly cause: QuarantineCause | null
  /** See {@link Claimed.tries}. */
  readonly tries: number
  readonly owned: boolean
  readonly wakeAt: number | null
  readonly head: number
  /** The hash of the log. */
  readonly link: Uint8Array
  readonly mail: number
  readonly createdAt: number
  readonly endedAt: number | null
  readonly tags: readonly string[] | null
  readonly startedBy: string | null
  readonly info: Uint8Array | null
}
export interface RunQuery {
  readonly procedure: string | null
  /** Any of these; empty: all. `running`: live, unmarked, and owned or due; `waiting`: live, unmarked, neither. */
  readonly statuses: readonly RunStatus[]
  readonly tag: string | null
  /** Only runs with a smaller key: the page before ended there. */
  readonly before: RunKey | null
  readonly limit: number
}

export interface NewAsk {
  readonly position: number
  readonly kind: string
  /** The name it can be answered by before it is open; unique per run. */
  readonly key: string | null
  /** 0 to 3: how much is at stake. */
  readonly urgency: number
  readonly to: readonly string[]
  /** Who else sees it once it is overdue. */
  readonly escalateTo: readonly string[]
  /** When it becomes overdue; null: never. */
  readonly dueAt: number | null
  /** From when on no answer is accepted, because silence then counts as one; null: answers are always welcome. */
  readonly closesAt: number | null
  /** Everything a person sees. */
  readonly payload: Uint8Array
  /** Opened and closed at once by an early answer, which was given then. */
  readonly answered: { readonly by: string; readonly at: number; readonly payload: Uint8Array } | null
}
/** An ask as it is stored; see {@link RunRow}. */
export interface AskRow extends Omit<NewAsk, 'answered' | 'to' | 'escalateTo'> {
  readonly run: string
  readonly runKey: RunKey
  readonly procedure: string
  readonly startedBy: string | null
  readonly to: readonly string[] | null
  readonly escalateTo: readonly string[] | null
  readonly status: AskStatus | number
  readonly openedAt: number
  readonly closedAt: number | null
  readonly answeredBy: string | null
  readonly answer: Uint8Array | null
}
/** Where a row stands among asks: overdue first, then the more urgent, the sooner due (none last), the older. */
export interface AskOrder {
  readonly overdue: boolean
  readonly urgency: number
  readonly dueAt: number | null
  readonly openedAt: number
  readonly run: RunKey
  readonly position: number
}
export interface AskQuery {
  readonly status: AskStatus
  /** Asked of this audience by name; an overdue ask also counts for its `escalateTo`. */
  readonly to: string | null
  readonly run: string | null
  readonly procedure: string | null
  readonly kind: string | null
  readonly overdue: boolean | null
  /** Whether its time has run out (`closesAt` reached), be that recorded or not. */
  readonly lapsed: boolean | null
  /** The instant both are judged at, the same for all pages. */
  readonly now: number
  readonly after: AskOrder | null
  readonly limit: number
}
