import { isCausedByCancel } from '../../authoring/cancel.ts'
import type { AskSpec, ProcedureOperation } from '../../authoring/operations.ts'
import { issuesOf } from '../../base/issues.ts'
import { unreachable } from '../../base/unreachable.ts'
import { isBug } from '../../errors/bug.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { LogEvent } from '../../events/event.ts'
import type { CancelNote } from '../../events/payloads.ts'
import { rounds } from '../../host/rounds.ts'
import { validate } from '../../host/run-schema.ts'
import type { Completed, Decision, Failed, Waiting } from '../../kernel/decision.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Claimed } from '../../ports/store/claims.ts'
import type { Unit, UnitOutcome } from '../../ports/store/commit.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import type { Activity, ActivityContext, Draft, RunDraft } from '../activities/activity.ts'
import { createActivity } from '../activities/registry.ts'
import type { RunReport } from '../run-reports.ts'
import type { WorkerServices } from '../services.ts'
import { RunActivityContext } from './activity-context.ts'
import {
  cancelledEvent,
  cancelTopic,
  cancelWith,
  defaultGraceMs,
  endWithoutCode,
  noteOf,
  recordCancel,
  recordRequest,
} from './cancelling.ts'
import { Continuation, type InputRefused } from './continuation.ts'
import {
  type Bug,
  diagnoseBug,
  diagnoseConflict,
  diagnoseCrashes,
  diagnoseDifference,
  diagnoseForeignAwait,
} from './diagnose.ts'
import { notifyOfAsks, notifyOfEnd, reportEnd } from './ended.ts'
import { completeWith, type Ending, failWith, isAct, reportFailure } from './ending.ts'
import { findCallSite, type Replayed } from './find-call-site.ts'
import { Leaving } from './leaving.ts'
import { ReadFailed, readAgainMs } from './log-reader.ts'
import { LogWriter } from './log-writer.ts'
import { Mailbox } from './mailbox.ts'
import { Opening } from './opening.ts'
import { consumedBy, eventsOf, Outbox } from './outbox.ts'
import { quarantinedFor, type Reason, unfitInput, unreadFor } from './park-with-error.ts'
import { PendingActivities } from './pending-activities.ts'
import { composeUnit, endParts, planUnit, type Standing, type UnitParts } from './unit.ts'
import { warnOfMove, warnOfUndeclared } from './warnings.ts'

/** Callbacks of a run to its worker. */
export interface RunCallbacks extends WorkerServices {
  /** Whether no body starts here any more: idle runs are handed to other workers at once, if the store can write. */
  readonly handsOver: boolean
  /** Called when it has, or may have, something to write. */
  onReady(run: Run): void
  /** Called when it has written an event since it was claimed. */
  onProgress(run: Run): void
  /** Called when it was released until `wakeAt`; its continuation may be kept. */
  onParked(run: Run, wakeAt: number | null): void
  /** Called when it has completed with this output, and the log contains it. */
  onCompleted(run: Run, output: Uint8Array | null): void
  /** Called when it is over, or has another owner. */
  onGone(run: Run): void
}

const nothing = (): void => {}

/** Work of the phases of a run, in rows. */
const workOf = { load: 10, decide: 2, begin: 3 }

/** The current activity of a run. Only a still run is asked for a unit, and it has at most one in flight. */
type Phase = 'moving' | 'still' | 'writing' | 'parked' | 'leaving' | 'gone'

/**
 * A run that its worker owns: its continuation, the activities of its pending operations, and its drafts. The run
 * decides; the committer writes; the drain delivers.
 */
export class Run {
  readonly key: RunKey
  readonly id: string
  readonly #host: RunCallbacks
  readonly #claimed: Claimed
  readonly #log: LogWriter
  readonly #mailbox: Mailbox
  readonly #outbox: Outbox
  readonly #activities = new PendingActivities()
  readonly #continuation: Continuation
  readonly #context: ActivityContext

  #phase: Phase = 'moving'
  #ending: Ending | null = null
  /** The unit that ends a cancelled run whose procedure cannot continue. */
  #lastParts: UnitParts | null = null
  /** The report to log once the failure is written. */
  #report: RunReport | null = null
  #hasReturned = false
  /** A bug in the procedure: the run no longer moves, and is parked once the running bodies are done. */
  #bug: Bug | null = null
  /** Operations that have not all started; null: all have. */
  #opening: Opening | null = null
  /** The last turn whose operations were started here. */
  #begunUpTo: number | null = null
  /** Whether the procedure has moved outside a turn. */
  #movedOutside = false
  #callOff = nothing
  /** Null in most runs, which are never left. */
  #left: Leaving | null = null

  constructor(host: RunCallbacks, claimed: Claimed) {
    this.key = claimed.run
    this.id = claimed.id
    this.#host = host
    this.#claimed = claimed
    this.#log = new LogWriter(host, claimed)
    this.#outbox = new Outbox(host.slices.drafts, (position) => this.#continuation.scopeOf(position))
    this.#mailbox = new Mailbox(host.store, claimed.run, claimed.mail, {
      onRead: () => this.#ready(),
      onNew: (message) => warnOfUndeclared(host, claimed, message),
      onUnread: (error) => this.#onUnread(error),
    })
    this.#continuation = new Continuation(host, claimed, () => this.#onForeign())
    this.#context = this.#createContext()
  }

  /** Bytes of payload delivered to this continuation, or pending: an estimate of the memory it holds. */
  get weight(): number {
    return this.#continuation.notes.weight + this.#mailbox.weight
  }

  /** Whether nothing is running, being read, or to be written: only time or a message changes it. */
  get isAtRest(): boolean {
    if (this.#phase === 'gone') return true
    if (this.#phase !== 'still' || this.#opening !== null) return false
    return !this.#mailbox.isReading && this.#outbox.isEmpty && !this.#activities.isBusy
  }

  /** Whether it has something to write, such as a step result. Results that are no longer awaited do not count. */
  get owes(): boolean {
    return !this.#isOver && !this.#hasReturned && !this.#outbox.isEmpty
  }

  /** Whether workers died over it and it has not written an event here, which would clear it. */
  get #isSuspect(): boolean {
    return this.#claimed.tries > 0 && this.#log.head === this.#claimed.head
  }

  /** Whether further events have no effect. */
  get #isOver(): boolean {
    return this.#phase === 'gone' || this.#phase === 'leaving'
  }

  /** Returns the author's schema of an open ask. */
  checkOf(position: number): AskSpec['check'] {
    return this.#activities.find(position)?.check
  }

  // ── loading

  /** Begins a run that this worker has just created: nothing needs to be read. */
  begin(started: LogEvent): void {
    this.#log.begin(started)
    this.#continuation.begin(started).then(
      (refused) => (refused === null ? this.#deliver([started]) : this.#refuseInput(refused)),
      (error: Error) => this.#leaving.leave(unreadFor(this.id, 'its first event', error)),
    )
  }

  /** Reads the log, verifies it, and replays it. `message`: the one it was claimed with. */
  load(message: Message | null): void {
    if (this.#claimed.alone >= this.#host.maxCrashes)
      return this.#leaving.leave(diagnoseCrashes(this.#claimed))
    if (message !== null) this.#mailbox.begin(message)
    void this.#read(async () => {
      await rounds.enter(workOf.load)
      if (this.#isOver) return
      if (await this.#endsUnbegun()) return
      // Fetched while the log is being read.
      const mail = this.#mailbox.read()
      mail.catch(() => {})
      const refused = await this.#continuation.replay(this.#log)
      await mail
      if (refused !== null) return this.#refuseInput(refused)
      if (this.#isOver || this.#continuation.accepted === null) return this.#onDrained()
      this.#phase = 'still'
      this.#ready()
    })
  }

  /** Whether it was cancelled before its first turn, or without its code: then none of its code runs. */
  async #endsUnbegun(): Promise<boolean> {
    const { procedure, version, head, mail } = this.#claimed
    const hasCode = this.#host.procedure(procedure, version) !== undefined
    if (hasCode && (head > 1 || mail === 0)) return false
    await this.#mailbox.read()
    if (this.#isOver || (hasCode && this.#cancelRequest === undefined)) return this.#isOver
    for await (const page of this.#log.pages()) this.#continuation.notes.add(page)
    if (!this.#isOver) this.#endWithoutCode()
    return true
  }

  /** Retries a read that the store did not answer. Any other error concerns this run's data, and parks it. */
  async #read(task: () => Promise<void>): Promise<void> {
    try {
      await task()
    } catch (error) {
      if (this.#isOver) return
      if (!(error instanceof ReadFailed)) return this.#leaving.leaveBroken(error, 'its log')
      this.#host.logger.error(`Run "${this.id}" could not be read; retrying`, { error: error.cause })
      this.#callOff = this.#host.clock.after(readAgainMs, () => void this.#read(task))
    }
  }

  /** Resumes the run after it was claimed again with its continuation still in memory. */
  wake({ epoch, mail }: Claimed, message: Message | null): void {
    this.#log.epoch = epoch
    this.#phase = 'still'
    if (message !== null) this.#mailbox.receive(message)
    this.#mailbox.learn(mail)
    this.#beginMore()
  }

  /** Whether this continuation is at the state of the claimed run. */
  continues({ head }: Claimed): boolean {
    return this.#phase === 'parked' && this.#log.head === head
  }

  /** Releases everything without writing. */
  drop(): void {
    if (this.#phase === 'gone') return
    this.#phase = 'gone'
    this.#opening = null
    this.#callOff()
    this.#left?.stop()
    this.#activities.stop()
    this.#continuation.drop()
  }

  // ── deciding

  #deliver(events: readonly LogEvent[]): void {
    if (this.#isOver) return
    this.#phase = 'moving'
    const most = this.#host.slices.drafts
    if (events.length <= most) return this.#continuation.deliver(events, () => this.#onDelivered())
    this.#continuation.deliver(events.slice(0, most), () => this.#deliver(events.slice(most)))
  }

  /** Decides once the round has room: the turns of many runs may end in the same round. */
  #onDelivered(): void {
    const entered = rounds.enter(workOf.decide)
    if (entered === undefined) this.#onDrained()
    else void entered.then(() => this.#onDrained())
  }

  #onDrained(): void {
    if (this.#isOver) return
    if (this.#bug !== null) return this.#stopAt(this.#bug)
    this.#continuation.decide((decision) => this.#onDecided(decision))
  }

  #onForeign(): void {
    this.#movedOutside = true
    if (this.#phase === 'still') this.#onDrained()
    else if (this.#phase === 'parked') this.#forgetMove()
  }

  #forgetMove(): void {
    this.#host.onGone(this)
    this.#continuation.decide((decision) => {
      if (decision.state === 'foreign-await') warnOfMove(this.#host, this.id, decision)
    })
  }

  #onDecided(decision: Decision<ProcedureOperation>): void {
    if (this.#isOver) return
    if (this.#bug !== null) return this.#stopAt(this.#bug)
    switch (decision.state) {
      case 'waiting':
        return this.#wait(decision)
      case 'completed':
        this.#hasReturned = true
        // It has nothing left to write, and code that waits for that has to check again.
        this.#host.onReady(this)
        return void this.#complete(decision)
      case 'failed':
        if (this.#parksBugs && isBug(decision.error))
          return this.#stopAt({ error: decision.error, position: null })
        this.#hasReturned = true
        return this.#cancelled !== null && isCausedByCancel(decision.error)
          ? this.#end(cancelWith(this.#cancelled.reason, decision.left), decision.closed)
          : this.#fail(decision)
      case 'nondeterminism':
        return this.#leaveFor(() => diagnoseDifference(this.#host, this.#replayed, decision, this.#parksBugs))
      case 'foreign-await':
        return this.#leaveFor(() => diagnoseForeignAwait(this.#host, this.#replayed, decision))
      case 'unreadable':
        return this.#leaving.leave(
          unreadFor(this.id, `the result at position ${decision.position}`, decision.error),
        )
      case 'damaged':
        return this.#leaving.leave(quarantinedFor(this.id, decision.what))
    }
  }

  /** Handles an invalid input. Before the first turn it ends the run; in a longer log the code must have changed. */
  #refuseInput(refused: InputRefused): void {
    if (this.#isOver) return
    if (this.#log.head === 1) this.#end(failWith(new PawlError('input-invalid', refused), []))
    else if (this.#isCancelled) this.#endWithoutCode()
    else this.#leaving.leave(unfitInput(this.id, refused))
  }

  #wait({ issued, closed }: Waiting<ProcedureOperation>): void {
    this.#guard(() => {
      this.#close(closed)
      this.#beginAll(issued)
      if (this.#bug !== null) return this.#stopAt(this.#bug)
      if (this.#isOver) return
      this.#begunUpTo = this.#continuation.turn
      this.#phase = 'still'
      this.#beginMore()
    })
  }

  /**
   * Stops the activities of closed scopes; only their withdrawal is recorded. After a crash in between, the log may contain
   * the start of an operation without its withdrawal.
   */
  #close(closed: readonly Pending<ProcedureOperation>[]): void {
    const { notes } = this.#continuation
    for (const pending of closed) {
      const { position } = pending
      if (notes.isAsked(position) && !this.#activities.has(position)) this.#open(pending).begin()
      if (!this.#activities.close(position)) continue
      this.#giveBack(this.#outbox.drop(position))
      if (notes.recordsOf(position).length > 0) this.#outbox.add({ type: 'withdrawn', pending })
    }
  }

  /** Starts operations that have not started: a few at once, many in slices. */
  #beginAll(pending: readonly Pending<ProcedureOperation>[]): void {
    const waiting = pending.filter(({ position }) => !this.#activities.has(position))
    if (waiting.length <= this.#host.slices.begun) return this.#begin(waiting)
    const opening = new Opening(waiting)
    this.#opening = opening
    this.#begin(opening.take(this.#host.slices.begun))
  }

  #begin(pending: readonly Pending<ProcedureOperation>[]): void {
    for (const one of pending) {
      this.#open(one).begin()
      if (this.#bug !== null) return
    }
  }

  /** Continues starting operations: at the start, after each slice, and after each write, which makes room. */
  #beginMore(): void {
    const opening = this.#opening
    if (opening === null || this.#isHandedOver) return this.#ready()
    if (opening.isDone && this.#phase === 'still') return this.#onBegun(opening)
    if (!opening.isDone && !opening.isScheduled && this.#outbox.room > 0) {
      opening.isScheduled = true
      const count = Math.min(opening.left, this.#host.slices.begun)
      const run = (): number => this.#beginSlice(opening) * workOf.begin
      rounds.add({ weigh: () => count * workOf.begin, run })
    }
    this.#ready()
  }

  /** Starts the next operations and returns their number. */
  #beginSlice(opening: Opening): number {
    opening.isScheduled = false
    if (this.#opening !== opening || this.#isHandedOver) return 0
    const slice = opening.take(Math.min(this.#host.slices.begun, this.#outbox.room))
    this.#guard(() => {
      this.#begin(slice)
      if (!this.#isOver && this.#bug === null) this.#beginMore()
    })
    return slice.length
  }

  /** Delivers the events held back until all operations have started. */
  #onBegun({ held }: Opening): void {
    this.#opening = null
    if (held.events.length > 0) this.#goOn(held.events, held.from)
    else if (this.#movedOutside && this.#ending === null) this.#onDrained()
    else this.#ready()
  }

  /** Whether the worker stops, and the rest is left to another one. A run that ends has only its end to write. */
  get #isHandedOver(): boolean {
    return this.#host.handsOver && this.#ending === null
  }

  #open(pending: Pending<ProcedureOperation>): Activity {
    const records = this.#continuation.notes.recordsOf(pending.position)
    const activity = createActivity(this.#context, pending, records)
    this.#activities.add(pending, activity)
    return activity
  }

  #createContext(): ActivityContext {
    return new RunActivityContext(this.#host, this, {
      start: () => this.#continuation.start,
      head: () => this.#log.head,
      pages: () => this.#log.pages(),
      recentSteps: () => this.#continuation.notes.steps,
      take: (topics) => this.#mailbox.take(topics),
      isGone: () => this.#isOver,
      parkFor: (position, error) => {
        if (!this.#parksBugs) return false
        this.#onMisuse({ error, position })
        return true
      },
      record: (draft) => {
        if (this.#isOver) return
        this.#outbox.add(draft)
        this.#ready()
      },
      giveBack: (n) => this.#mailbox.giveBack(n),
      retract: (activity) => this.#giveBack(this.#outbox.retract(activity)),
      guard: (task) => void this.#guard(task),
      lookAgain: () => this.#ready(),
    })
  }

  #ready(): void {
    if (this.#phase === 'still') this.#host.onReady(this)
  }

  async #complete({ output, left, closed }: Completed<ProcedureOperation>): Promise<void> {
    const schema = this.#continuation.start.definition.output
    const checked =
      schema === undefined ? { ok: true as const, value: output } : await validate(schema, output)
    if (checked.ok) this.#end(completeWith(checked.value, left), closed)
    else this.#end(failWith(new PawlError('output-invalid', issuesOf(checked)), left), closed)
  }

  /** Fails the run. If the error of a failed operation has no location and a log line will show it, it is looked up. */
  #fail({ error, position, left, closed }: Failed<ProcedureOperation>): void {
    const ending = failWith(error, left)
    const report = reportFailure(this.id, this.#claimed.procedure, ending.failure, position)
    this.#report = report
    if (report.position === undefined || !this.#host.reports.isLineDue(report))
      return this.#end(ending, closed)
    this.#leaving.attempt(
      findCallSite(this.#host, this.#replayed, report.position).then((at) => {
        this.#report = at === '' ? report : { ...report, at }
        this.#end(ending, closed)
      }),
    )
  }

  #end(ending: Ending, closed: readonly Pending<ProcedureOperation>[] = []): void {
    if (this.#isOver) return
    this.#ending = ending
    this.#guard(() => {
      this.#close(closed)
      // Open asks stay open until the end is written: an answer before that counts.
      this.#beginAll(ending.left.filter(({ position }) => this.#continuation.notes.isAsked(position)))
      if (this.#isOver) return
      this.#phase = 'still'
      this.#beginMore()
    })
  }

  // ── writing

  /**
   * Returns the unit to write now; null if there is nothing to write. Called by the committer when it writes: the run
   * advances first, and then decides what to write.
   */
  prepare(): Unit | null {
    if (this.#phase !== 'still' || this.#mailbox.isBehind) return null
    if (this.#lastParts !== null) return this.#write(this.#lastParts)
    const { accepted } = this.#continuation
    if (accepted !== null)
      return this.#write({ events: [accepted], drafts: [], next: { do: 'keep' }, info: null })
    return this.#guard(() => {
      if (this.#bug !== null) return this.#prepareStop(this.#bug)
      if (this.#opening !== null) return this.#prepareWhileOpening()
      if (this.#ending !== null) return this.#prepareEnd(this.#ending, this.#handOut('asks'))
      return this.#nextUnit(this.#advance())
    })
  }

  /** Hands out messages and calls due operations: both may change the unit. */
  #advance(): Standing {
    const request = this.#cancelled === null ? this.#cancelRequest : undefined
    // A drafted request still precedes the messages after it: its unit may fail, and then they must not overtake it.
    const before = request?.n ?? this.#outbox.cancelRequest
    const isHandedOut = this.#handOut('all', before)
    const now = this.#host.time.now()
    let survey = this.#activities.survey()
    const changesAt = this.#planCancel(now, isHandedOut, request)
    // A message takes precedence over the timeout of the operation that would take it.
    if (isHandedOut && before === undefined && survey.dueAt !== null && survey.dueAt <= now) {
      this.#activities.callDue(now, this.#outbox.positions, this.#outbox.room)
      survey = this.#activities.survey()
    }
    const { isBusy, isWorking } = survey
    const dueAt = earlier(survey.dueAt, changesAt)
    const { isEmpty, settles } = this.#outbox
    const handsOver = this.#host.handsOver && !this.#isSuspect
    return { now, isHandedOut, handsOver, isEmpty, settles, dueAt, isBusy, isWorking }
  }

  /** The message that requests a cancel, if there is one. */
  get #cancelRequest(): Message | undefined {
    return this.#mailbox.isEmpty ? undefined : this.#mailbox.oldest([cancelTopic])
  }

  /** Its first cancel, if the log has one. */
  get #cancelled(): CancelNote | null {
    return this.#continuation.notes.cancelled
  }

  /** It is cancelled, or is about to be. */
  get #isCancelled(): boolean {
    return (
      this.#cancelled !== null ||
      this.#cancelRequest !== undefined ||
      this.#outbox.cancelRequest !== undefined
    )
  }

  /**
   * Drafts a cancel that was requested, or whose time has come. Returns when the next one is due. Messages that came before a
   * request are recorded before it.
   */
  #planCancel(now: number, isHandedOut: boolean, request: Message | undefined): number | null {
    if (this.#outbox.cancels) return null
    if (request !== undefined) {
      const { consumes } = this.#outbox
      if (isHandedOut && this.#mailbox.taken.every((n) => n > request.n || consumes.has(n)))
        this.#outbox.addCancel(recordRequest(this.#mailbox.take([cancelTopic]) as Message))
      return null
    }
    const { graceFrom, notes, start } = this.#continuation
    if (graceFrom === null || notes.isForced) return null
    const endsAt = graceFrom + (start.definition.graceMs ?? defaultGraceMs)
    if (endsAt > now) return endsAt
    this.#outbox.addCancel(recordCancel({ forced: true }))
    return null
  }

  #nextUnit(standing: Standing): Unit | null {
    const plan = planUnit(standing)
    switch (plan.do) {
      case 'write':
        return this.#createNext()
      case 'park':
        return this.#createPark(plan.wakeAt)
      case 'hand-over':
        return this.#createHandOver()
      case 'wait':
        this.#arm(plan.until, standing.now)
        return null
      case 'look-again':
        this.#ready()
        return null
      default:
        return unreachable(plan)
    }
  }

  /** Hands out as many messages as there is room for drafts. Returns whether none is left that an operation would take. */
  #handOut(to: 'all' | 'asks', before?: number): boolean {
    if (this.#mailbox.isEmpty) return true
    if (this.#activities.handOut(this.#mailbox, to, this.#outbox.room, before)) return true
    this.#handOutEarly()
    return false
  }

  /** Hands out early answers, which must be seen before their ask is opened. */
  #handOutEarly(): void {
    this.#activities.handOut(this.#mailbox, 'unasked', Number.POSITIVE_INFINITY)
  }

  /** Writes while operations are starting. Hands out no messages except early answers, and neither times out nor parks. */
  #prepareWhileOpening(): Unit | null {
    if (this.#ending !== null) return null
    if (!this.#mailbox.isEmpty) this.#handOutEarly()
    if (!this.#outbox.isEmpty) return this.#createNext()
    return this.#isHandedOver && !this.#isSuspect && !this.#activities.isWorking
      ? this.#createHandOver()
      : null
  }

  #createPark(wakeAt: number | null): Unit {
    const drafts = this.#outbox.send()
    if (!this.#outbox.isEmpty) return this.#createRest(drafts)
    const waiting = this.#activities.describe()
    const info = this.#cancelled === null ? { waiting } : { waiting, cancelled: this.#cancelled }
    return this.#write({ events: eventsOf(drafts), drafts, next: { do: 'park', wakeAt }, info })
  }

  #createHandOver(): Unit {
    const next = { do: 'park', wakeAt: this.#host.time.now() } as const
    return this.#write({ events: [], drafts: [], next, info: null })
  }

  #createNext(): Unit {
    return this.#createRest(this.#outbox.send())
  }

  /** Keeps the run. Drafts that exceed the unit are decided again if the run may see more messages first. */
  #createRest(drafts: readonly Draft[]): Unit {
    const cancel = this.#outbox.sendCancel()
    const unit = this.#keep(drafts, cancel)
    this.#decideAgain(this.#outbox.dropStrict())
    return unit
  }

  #prepareEnd(ending: Ending, isHandedOut: boolean): Unit | null {
    const { asks } = this.#activities
    if (asks.some(({ activity }) => activity.busy)) return null
    // Results that arrived in time are recorded; asks that are not open yet, and results that are not awaited, are not.
    const sent = this.#outbox.send(
      ({ type, strict }) =>
        strict === undefined && (type === 'settled' || type === 'withdrawn' || type === null),
    )
    if (!this.#outbox.isEmpty || !isHandedOut) return this.#keep(sent)
    const open = asks.map(({ pending }) => pending)
    const asked = open.filter(({ position }) => this.#continuation.notes.isAsked(position))
    const past = { rollback: this.#continuation.rollback, cancelled: this.#cancelled }
    return this.#write(endParts(ending, sent, asked, this.#mailbox.signals, past))
  }

  /** Writes only the results of bodies that were running; then the run is parked. */
  #prepareStop(bug: Bug): Unit | null {
    this.#clearDesk()
    // A decision that falls back on people must see an answer that arrived before its ask.
    this.#handOut('asks')
    const drafts = this.#outbox.send()
    if (drafts.length > 0) return this.#keep(drafts)
    if (!this.#activities.isWorking) this.#leaveFor(() => diagnoseBug(this.#host, this.#replayed, bug))
    return null
  }

  #keep(drafts: readonly Draft[], cancel: RunDraft | null = null): Unit {
    const parts = { events: eventsOf(drafts), drafts, next: { do: 'keep' }, info: null } as const
    if (cancel === null) return this.#write(parts)
    return this.#write({
      ...parts,
      events: [...parts.events, cancelledEvent(cancel)],
      effects: cancel.effects,
      info: { waiting: [], cancelled: this.#cancelled ?? noteOf(cancel, this.#host.time.now()) },
    })
  }

  #write(parts: UnitParts): Unit {
    this.#phase = 'writing'
    this.#callOff()
    return composeUnit(this.#log, this.#mailbox.seen, parts)
  }

  /** Handles the outcome of the unit. */
  onOutcome(unit: Unit, outcome: UnitOutcome): void {
    if (this.#phase !== 'writing') return
    switch (outcome.outcome) {
      case 'ok':
        return void this.#guard(() => this.#onWritten(unit, outcome))
      case 'lost':
        this.#log.epoch = outcome.epoch
        return this.takeBack()
      case 'mail':
        if (outcome.mail < unit.seen) return this.#leaving.leaveForgotten()
        this.#mailbox.learn(outcome.mail)
        return this.takeBack()
      case 'fenced':
        this.#host.logger.warn(
          `Run "${this.id}" has another owner; this worker drops it and has written nothing`,
        )
        return this.#host.onGone(this)
      case 'conflict':
        return this.#leaving.leave(diagnoseConflict(this.id, unit, outcome.why))
    }
  }

  /** Returns the drafts of an unwritten unit to the next one, except the strict ones, which are decided again. */
  takeBack(): void {
    if (this.#phase !== 'writing') return
    this.#phase = 'still'
    this.#log.takeBack()
    const refused = this.#outbox.takeBack()
    this.#guard(() => this.#decideAgain(refused))
    this.#beginMore()
  }

  #decideAgain(drafts: readonly Draft[]): void {
    if (drafts.length === 0) return
    this.#giveBack(drafts)
    for (const activity of new Set(drafts.flatMap(({ strict }) => strict ?? []))) activity.begin()
  }

  #giveBack(drafts: readonly Draft[]): void {
    for (const { effects } of drafts) for (const n of consumedBy(effects)) this.#mailbox.giveBack(n)
  }

  #onWritten(unit: Unit, { at, epoch, mail, parked }: UnitOutcome & { readonly outcome: 'ok' }): void {
    this.#host.time.learn(at)
    if (mail < unit.seen) return this.#leaving.leaveForgotten()
    const before = this.#log.head
    const events = this.#log.confirm(at, epoch)
    this.#outbox.confirm()
    if (unit.effects.length > 0) this.#mailbox.forget(consumedBy(unit.effects))
    if (events.length > 0 && this.#claimed.tries > 0) this.#host.onProgress(this)
    if (unit.effects.some((effect) => effect.do === 'open-ask')) notifyOfAsks(this.#host.notifier, this.id)
    if (unit.next.do === 'end') return this.#onEnded(this.#ending as Ending)
    for (const event of events) {
      if (event.type === 'settled' || event.type === 'withdrawn') this.#activities.remove(event.position)
      else this.#activities.find(event.position)?.onRecorded(event)
    }
    this.#continuation.notes.add(events)
    if (parked && unit.next.do === 'park') {
      // A message that the park did not see has made the run due at once, whatever its wake-up time.
      const isDue = this.#mailbox.seen > unit.seen || this.#mailbox.isBehind
      return this.#onParked(isDue ? at : unit.next.wakeAt)
    }
    this.#phase = 'still'
    this.#mailbox.learn(mail)
    if (this.#continuation.accepted !== null) return this.#replay()
    const isSettled = events.some(({ type }) => type === 'settled' || type === 'cancelled')
    if (this.#opening !== null) {
      if (isSettled) this.#opening.hold(events, before)
      return this.#beginMore()
    }
    // The end is still to be written, or the run has stopped: these are no longer awaited.
    if (this.#ending !== null || this.#bug !== null) return this.#ready()
    if (isSettled) return this.#goOn(events, before)
    if (this.#movedOutside) return this.#onDrained()
    this.#ready()
  }

  #goOn(events: readonly LogEvent[], before: number): void {
    this.#outbox.onDelivered()
    if (this.#host.replay === 'when-needed') this.#deliver(events)
    else this.#replay(before)
  }

  #replay(newFrom?: number): void {
    this.#phase = 'moving'
    void this.#read(async () => {
      await this.#continuation.replay(this.#log, newFrom)
      this.#onDrained()
    })
  }

  #onParked(wakeAt: number | null): void {
    this.#phase = 'parked'
    this.#host.onParked(this, wakeAt)
    if (this.#movedOutside) this.#forgetMove()
  }

  #onEnded(ending: Ending): void {
    reportEnd(this.#host, {
      id: this.id,
      procedure: this.#claimed.procedure,
      ending,
      report: this.#report,
      begunUpTo: this.#begunUpTo,
      continuation: this.#continuation,
      mailbox: this.#mailbox,
    })
    if (ending.failure === null) this.#host.onCompleted(this, ending.payload)
    this.#host.onGone(this)
    notifyOfEnd(this.#host, this.id)
  }

  /** Records that there are messages up to this number. Nothing is decided until they are read. */
  onMail(counter: number): void {
    if (!this.#isOver) this.#mailbox.learn(counter)
  }

  #onUnread(error: unknown): void {
    if (this.#isOver) return
    if (!(error instanceof ReadFailed)) return this.#leaving.leaveBroken(error, 'a message')
    this.#host.logger.error(`Run "${this.id}" could not read its messages; retrying`, {
      error: error.cause,
    })
  }

  /** Receives a message that was sent in this process. */
  onMessage(message: Message): void {
    if (this.#isOver) return
    this.#mailbox.receive(message)
    this.#ready()
  }

  #arm(wakeAt: number | null, now: number): void {
    this.#callOff()
    if (wakeAt !== null)
      this.#callOff = this.#host.clock.after(Math.max(0, wakeAt - now), () => this.#ready())
  }

  // ── parking with an error

  get #leaving(): Leaving {
    this.#left ??= new Leaving(this.#host, {
      key: this.key,
      id: this.id,
      procedure: this.#claimed.procedure,
      isOver: () => this.#isOver,
      epoch: () => this.#log.epoch,
      // At least those it was claimed with: otherwise a run that cannot be read would be due again at once.
      seen: () => Math.max(this.#mailbox.seen, this.#claimed.mail),
      onLeaving: () => {
        this.drop()
        this.#phase = 'leaving'
      },
      onGone: () => this.#host.onGone(this),
    })
    return this.#left
  }

  /** Runs a task and parks the run if it throws. */
  #guard<Result>(task: () => Result): Result | null {
    try {
      return task()
    } catch (error) {
      this.#leaving.leaveBroken(error, 'an event or a message')
      return null
    }
  }

  get #parksBugs(): boolean {
    if (this.#cancelled !== null) return false
    return (this.#continuation.start.definition.bugs ?? this.#host.bugs) === 'park'
  }

  /** Handles a misuse found in an operation, in any phase: a write in flight ends first. */
  #onMisuse(bug: Bug): void {
    if (this.#isOver || this.#ending !== null) return
    this.#bug ??= bug
    this.#clearDesk()
    this.#ready()
  }

  /** Stops the run at a bug: nothing is delivered or started any more. */
  #stopAt(bug: Bug): void {
    this.#bug = bug
    this.#guard(() => {
      this.#clearDesk()
      this.#phase = 'still'
      this.#ready()
    })
  }

  /** Keeps only running bodies and finished results; everything else is unchanged when the run is retried. */
  #clearDesk(): void {
    this.#opening = null
    this.#outbox.keep(({ pending }) => isAct(pending))
    this.#returnCancel()
    const { positions } = this.#outbox
    this.#activities.keep(
      ({ pending, activity }) =>
        isAct(pending) && (activity.busy === 'working' || positions.has(pending.position)),
    )
  }

  /** Makes the request of a drafted cancel pending again. */
  #returnCancel(): void {
    const request = this.#outbox.cancelRequest
    this.#outbox.dropCancel()
    if (request !== undefined) this.#mailbox.giveBack(request)
  }

  /** The run's log, which is replayed again to find the location in the code. */
  get #replayed(): Replayed {
    return { id: this.id, start: this.#continuation.start, log: this.#log }
  }

  /** Parks the run once the diagnosis is known. Nothing is decided meanwhile. A cancelled run ends instead. */
  #leaveFor(diagnose: () => Promise<Reason>): void {
    if (this.#isCancelled) return this.#endWithoutCode()
    this.#phase = 'moving'
    this.#leaving.attempt(
      diagnose().then((reason) => {
        if (this.#isOver) return
        if (this.#isCancelled) this.#endWithoutCode()
        else this.#leaving.leave(reason)
      }),
    )
  }

  /** Ends a cancelled run whose procedure cannot continue: nothing is delivered any more. */
  #endWithoutCode(): void {
    const { notes } = this.#continuation
    this.#returnCancel()
    const request = notes.cancelled === null ? this.#mailbox.take([cancelTopic]) : undefined
    const { signals } = this.#mailbox
    const { ending, parts } = endWithoutCode(notes, request, this.#host.time.now(), signals)
    this.#activities.stop()
    this.#opening = null
    this.#ending = ending
    this.#lastParts = parts
    this.#phase = 'still'
    this.#ready()
  }
}

function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}
