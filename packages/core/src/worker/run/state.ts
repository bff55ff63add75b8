import type { Exposed } from '../../authoring/exposed/exposed.ts'
import type { ProcedureOperation } from '../../authoring/operations.ts'
import type { CancelNote, ProgressRecord } from '../../events/payloads.ts'
import type { Waiting } from '../../kernel/decision.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Claimed } from '../../ports/store/claims.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import type { ActivityContext, Draft } from '../activities/activity.ts'
import type { RunReport } from '../run-reports.ts'
import type { WorkerServices } from '../services.ts'
import { cancelTopic, type EndWithoutCode } from './cancelling.ts'
import { Continuation } from './continuation.ts'
import type { Bug } from './diagnose.ts'
import type { Ending } from './ending.ts'
import type { Replayed } from './find-call-site.ts'
import { LogWriter } from './log-writer.ts'
import { Mailbox, type Reader } from './mailbox.ts'
import { RunObservation } from './observation.ts'
import type { Opening } from './opening.ts'
import { consumedBy, Outbox } from './outbox.ts'
import { PendingActivities } from './pending-activities.ts'
import { nextPhase, type Phase } from './phase.ts'
import { Published } from './published.ts'

/** The services of a worker, and what it says of its own state. */
export interface RunServices extends WorkerServices {
  /** Whether no body starts here any more: idle runs are handed to other workers at once, if the store can write. */
  readonly handsOver: boolean
}

/** The run, as its parts call it. */
export interface RunMoves extends Reader {
  /** Called when it has, or may have, something to write. */
  onReady(): void
  /** Called when it has written an event. */
  onProgress(): void
  /** Called when the procedure moves outside a turn. */
  onForeign(): void
  /** Called when all operations have started that were started in slices. */
  onBegun(opening: Opening): void
  /** Called when nothing runs any more after a bug. */
  onStopped(bug: Bug): void
  /** Called when it is marked in the store, or has another owner. `dueAt`: when it becomes due again, if that is known. */
  onGone(dueAt?: number): void
}

const nothing = (): void => {}
/** A question that is open at the end of its run, and where the code asks it. */
export interface UnreadQuestion {
  readonly name: string
  readonly position: number
  /** As `file:line:column`; '' if it is unknown. */
  readonly at: string
}

const noNames: readonly string[] = []
const noQuestions: readonly UnreadQuestion[] = []

/**
 * The parts of a loaded run, and its state between two calls. It decides nothing: `run.ts` does, with the files beside it,
 * each of which computes one thing from this state.
 */
export class RunState implements Exposed {
  readonly key: RunKey
  readonly id: string
  readonly services: RunServices
  readonly claimed: Claimed
  readonly moves: RunMoves
  readonly log: LogWriter
  readonly mailbox: Mailbox
  readonly outbox: Outbox
  readonly activities: PendingActivities = new PendingActivities()
  readonly continuation: Continuation
  /** Null without an observer. */
  readonly observation: RunObservation | null
  /** Null until an operation has started. */
  context: ActivityContext | null = null

  /** What it shows of itself. Null in most runs. */
  published: Published | null = null
  #phase: Phase = 'moving'
  ending: Ending | null = null
  /** Composes the unit that ends a cancelled run whose procedure cannot continue. */
  composeLast: EndWithoutCode['compose'] | null = null
  /** The report to log once the failure is written. */
  report: RunReport | null = null
  hasReturned = false
  /** Steps with an undo whose results are recorded after the procedure has ended. Null in most runs. */
  lateSteps: Set<Pending> | null = null
  /** The names of the updates whose handlers were at work at its end. */
  unfinishedUpdates: readonly string[] = noNames
  /** Questions that its procedure has left open. */
  unread: readonly UnreadQuestion[] = noQuestions
  /** Whether the unit in flight begins the next generation. */
  continues = false
  /** A bug in the procedure: the run no longer moves, and is parked once the running bodies are done. */
  bug: Bug | null = null
  /** Operations that have not all started; null: all have. */
  opening: Opening | null = null
  /** A decision that waits until the branches on which it depends are recorded. */
  withheld: Waiting<ProcedureOperation> | null = null
  /** Operations with effects that start once the cancel is recorded, if it does not close them. */
  readonly held: Pending<ProcedureOperation>[] = []
  /** The last turn whose operations were started here. */
  begunUpTo: number | null = null
  /** When it first saw a request to cancel while earlier messages were being checked. */
  cancelWaitsSince: number | null = null
  /** The number of its children that the log of its end does not have to cancel any more, and of those in the unit in flight. */
  cancelledChildren = 0
  cancelling = 0
  /** The number of failed undos of which people have been told, and those of the unit in flight. */
  toldUndos = 0
  tellingUndos = 0
  /** How often in a row unseen messages have refused a strict unit. */
  refusals = 0
  /** Whether it waits until clients are held back. */
  isHolding = false
  /** Whether the procedure has moved outside a turn. */
  movedOutside = false
  /** Calls off its timer: for the next unit, or for the next try to read. */
  callOff: () => void = nothing
  /** Stops trying to mark it in the store. */
  stopMarking: () => void = nothing

  constructor(services: RunServices, claimed: Claimed, moves: RunMoves) {
    this.key = claimed.run
    this.id = claimed.id
    this.services = services
    this.claimed = claimed
    this.moves = moves
    this.observation = services.observer === undefined ? null : new RunObservation(services.observer, this)
    this.log = new LogWriter(services, claimed)
    this.continuation = new Continuation(services, claimed, moves, this)
    this.outbox = new Outbox(services.slices.drafts, (position) => this.continuation.scopeOf(position))
    this.mailbox = new Mailbox(services.store, claimed.run, claimed.mail, moves)
  }

  get phase(): Phase {
    return this.#phase
  }
  moveTo(phase: Phase): void {
    this.#phase = nextPhase(this.#phase, phase)
  }

  /** Whether further events have no effect. */
  get isOver(): boolean {
    return this.phase === 'gone' || this.phase === 'leaving'
  }
  /** Whether workers died over it and it has not written an event here, which would clear it. */
  get isSuspect(): boolean {
    return this.claimed.tries > 0 && this.log.head === this.claimed.head
  }
  /** Whether the worker stops, and the rest is left to another one. A run that ends has only its end to write. */
  get isHandedOver(): boolean {
    return this.services.handsOver && this.ending === null
  }
  /** Whether a bug parks it; otherwise a bug fails it. */
  get parksBugs(): boolean {
    if (this.cancelled !== null) return false
    return (this.continuation.start.definition.bugs ?? this.services.bugs) === 'park'
  }
  /** The run's log, which is replayed again to find the location in the code. */
  get replayed(): Replayed {
    const { start, branches } = this.continuation
    return { id: this.id, start, log: this.log, marks: branches.marks }
  }

  /** The message that requests a cancel, if there is one. */
  get cancelRequest(): Message | undefined {
    return this.mailbox.isEmpty ? undefined : this.mailbox.oldest([cancelTopic])
  }
  /** Its first cancel, if the log has one. */
  get cancelled(): CancelNote | null {
    return this.continuation.notes.cancelled
  }
  /** Whether its own timeout has passed, and no cancel is in the log. */
  get isOverdue(): boolean {
    const { timeoutAt } = this.continuation
    return timeoutAt !== null && this.cancelled === null && timeoutAt <= this.services.time.now()
  }
  /** Whether it is cancelled, or is about to be. */
  get isCancelled(): boolean {
    return (
      this.isOverdue ||
      this.cancelled !== null ||
      this.cancelRequest !== undefined ||
      this.outbox.cancelRequest !== undefined
    )
  }

  /** Whether it is about to be cancelled: no effect begins until that is recorded, since it would be abandoned at once. */
  get isBeingCancelled(): boolean {
    if (this.cancelled !== null) return false
    const isOverdue = this.isOverdue && this.continuation.graceFrom === null
    return isOverdue || this.cancelRequest !== undefined || this.outbox.cancelRequest !== undefined
  }

  expose(name: string, payload: Uint8Array | null): void {
    this.published ??= new Published()
    this.published.expose(name, payload, this.services.time.now())
  }

  progress(progress: ProgressRecord): void {
    this.published ??= new Published()
    this.published.report(progress, this.services.time.now())
  }

  /** Called when a unit was written. */
  noteCancelled(): void {
    this.cancelledChildren += this.cancelling
    this.cancelling = 0
    this.toldUndos = Math.max(this.toldUndos, this.tellingUndos)
  }

  /** Makes it look for something to write. */
  ready(): void {
    if (this.phase === 'still') this.moves.onReady()
  }

  /** Records a draft of an activity. */
  record(draft: Draft): void {
    if (this.isOver) return
    this.outbox.add(draft)
    this.ready()
  }

  /** Makes the messages of drafts pending again, since they are not recorded. */
  giveBack(drafts: readonly Draft[]): void {
    for (const { effects } of drafts) for (const n of consumedBy(effects)) this.mailbox.giveBack(n)
  }

  /** Makes the request of a drafted cancel pending again. */
  returnCancel(): void {
    const request = this.outbox.cancelRequest
    this.outbox.dropCancel()
    if (request !== undefined) this.mailbox.giveBack(request)
  }

  /** Releases everything without writing. */
  drop(): void {
    if (this.phase === 'gone') return
    this.moveTo('gone')
    this.opening = null
    this.withheld = null
    this.callOff()
    this.stopMarking()
    this.activities.stop()
    this.continuation.drop()
  }
}
