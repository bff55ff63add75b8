import { isCausedByCancel } from '../../authoring/cancel.ts'
import type { AskSpec, ProcedureOperation } from '../../authoring/operations.ts'
import { isBug } from '../../errors/bug.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { LogEvent } from '../../events/event.ts'
import { rounds } from '../../host/rounds.ts'
import type { Completed, Decision, Failed } from '../../kernel/decision.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Claimed } from '../../ports/store/claims.ts'
import type { Unit, UnitOutcome } from '../../ports/store/commit.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import { cancelWith } from './cancelling.ts'
import type { InputRefused } from './continuation.ts'
import {
  type Bug,
  diagnoseBug,
  diagnoseConflict,
  diagnoseCrashes,
  diagnoseDifference,
  diagnoseForeignAwait,
} from './diagnose.ts'
import { notifyOfEnd, reportEnd } from './ended.ts'
import { completeChecked, completeWith, type Ending, failWith, reportFailure } from './ending.ts'
import { findCallSite } from './find-call-site.ts'
import {
  attempt,
  guard,
  leave,
  leaveBroken,
  leaveFor,
  leaveForgotten,
  leaveWithoutCode,
  stopAt,
} from './leaving.ts'
import { loadRun, readAgain } from './loading.ts'
import { ReadFailed } from './log-reader.ts'
import { prepareUnit } from './next-unit.ts'
import type { Opening } from './opening.ts'
import { beginAll, beginMore, close } from './operations.ts'
import { quarantinedFor, unfitInput, unreadFor } from './park-with-error.ts'
import { type RunMoves, type RunServices, RunState } from './state.ts'
import { warnOfMove, warnOfUndeclared } from './warnings.ts'
import { takeBack, takeIn } from './written.ts'

/** Callbacks of a run to its worker. */
export interface RunCallbacks extends RunServices {
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

/** Work of deciding, in rows. */
const workOfDecide = 2

/**
 * A run that its worker owns. It decides what happens next: the files beside it compute what that takes, the committer
 * writes, and the drain delivers.
 */
export class Run implements RunMoves {
  readonly #host: RunCallbacks
  readonly #state: RunState

  constructor(host: RunCallbacks, claimed: Claimed) {
    this.#host = host
    this.#state = new RunState(host, claimed, this)
  }

  get key(): RunKey {
    return this.#state.key
  }
  get id(): string {
    return this.#state.id
  }

  /** Bytes of payload delivered to this continuation, or pending: an estimate of the memory it holds. */
  get weight(): number {
    return this.#state.continuation.notes.weight + this.#state.mailbox.weight
  }

  /** Whether nothing is running, being read, or to be written: only time or a message changes it. */
  get isAtRest(): boolean {
    const { phase, opening, mailbox, outbox, activities } = this.#state
    if (phase === 'gone') return true
    if (phase !== 'still' || opening !== null) return false
    return !mailbox.isReading && outbox.isEmpty && !activities.isBusy
  }

  /** Whether it has something to write, such as a step result. Results that are no longer awaited do not count. */
  get owes(): boolean {
    const { isOver, hasReturned, outbox } = this.#state
    return !isOver && !hasReturned && !outbox.isEmpty
  }

  /** Returns the author's schema of an open ask. */
  checkOf(position: number): AskSpec['check'] {
    return this.#state.activities.find(position)?.check
  }

  // ── loading

  /** Begins a run that this worker has just created: nothing needs to be read. */
  begin(started: LogEvent): void {
    const { log, continuation, id } = this.#state
    log.begin(started)
    continuation.begin(started).then(
      (refused) => (refused === null ? this.#deliver([started]) : this.#refuseInput(refused)),
      (error: Error) => leave(this.#state, unreadFor(id, 'its first event', error)),
    )
  }

  /** Reads the log, verifies it, and replays it. `message`: the one it was claimed with. */
  load(message: Message | null): void {
    const { claimed, mailbox } = this.#state
    if (claimed.alone >= this.#host.maxCrashes) return leave(this.#state, diagnoseCrashes(claimed))
    if (message !== null) mailbox.begin(message)
    void readAgain(this.#state, () => this.#load())
  }

  async #load(): Promise<void> {
    const state = this.#state
    const loaded = await loadRun(state)
    if (loaded.is === 'gone') return
    if (loaded.is === 'cancelled') return leaveWithoutCode(state)
    if (loaded.is === 'refused') return this.#refuseInput(loaded.refused)
    if (state.isOver || state.continuation.accepted === null) return this.#onDrained()
    state.phase = 'still'
    state.ready()
  }

  /** Resumes the run after it was claimed again with its continuation still in memory. */
  wake({ epoch, mail }: Claimed, message: Message | null): void {
    const state = this.#state
    state.log.epoch = epoch
    state.phase = 'still'
    if (message !== null) state.mailbox.receive(message)
    state.mailbox.learn(mail)
    beginMore(state)
  }

  /** Whether this continuation is at the state of the claimed run. */
  continues({ head }: Claimed): boolean {
    return this.#state.phase === 'parked' && this.#state.log.head === head
  }

  /** Releases everything without writing. */
  drop(): void {
    this.#state.drop()
  }

  // ── deciding

  #deliver(events: readonly LogEvent[]): void {
    const { isOver, continuation } = this.#state
    if (isOver) return
    this.#state.phase = 'moving'
    const most = this.#host.slices.drafts
    if (events.length <= most) return continuation.deliver(events, () => this.#onDelivered())
    continuation.deliver(events.slice(0, most), () => this.#deliver(events.slice(most)), true)
  }

  /** Decides once the round has room: the turns of many runs may end in the same round. */
  #onDelivered(): void {
    const entered = rounds.enter(workOfDecide)
    if (entered === undefined) this.#onDrained()
    else void entered.then(() => this.#onDrained())
  }

  #onDrained(): void {
    const { isOver, bug, continuation } = this.#state
    if (isOver) return
    if (bug !== null) return stopAt(this.#state, bug)
    continuation.decide((decision) => this.#onDecided(decision))
  }

  onForeign(): void {
    const state = this.#state
    state.movedOutside = true
    if (state.phase === 'still') this.#onDrained()
    else if (state.phase === 'parked') this.#forgetMove()
  }

  #forgetMove(): void {
    this.onGone()
    this.#state.continuation.decide((decision) => {
      if (decision.state === 'foreign-await') warnOfMove(this.#host, this.id, decision)
    })
  }

  #onDecided(decision: Decision<ProcedureOperation>): void {
    const state = this.#state
    if (state.isOver) return
    if (state.bug !== null) return stopAt(state, state.bug)
    switch (decision.state) {
      case 'waiting':
        return void guard(state, () => this.#wait(decision.issued, decision.closed))
      case 'completed':
        state.hasReturned = true
        // It has nothing left to write, and code that waits for that has to check again.
        this.onReady()
        return this.#onCompleted(decision)
      case 'failed':
        return this.#onFailed(decision)
      case 'nondeterminism':
        return leaveFor(state, () =>
          diagnoseDifference(this.#host, state.replayed, decision, state.parksBugs),
        )
      case 'foreign-await':
        return leaveFor(state, () => diagnoseForeignAwait(this.#host, state.replayed, decision))
      case 'unreadable':
        return leave(state, unreadFor(this.id, `the result at position ${decision.position}`, decision.error))
      case 'damaged':
        return leave(state, quarantinedFor(this.id, decision.what))
    }
  }

  #wait(
    issued: readonly Pending<ProcedureOperation>[],
    closed: readonly Pending<ProcedureOperation>[],
  ): void {
    const state = this.#state
    close(state, closed)
    beginAll(state, issued)
    if (state.bug !== null) return stopAt(state, state.bug)
    if (state.isOver) return
    state.begunUpTo = state.continuation.turn
    state.phase = 'still'
    beginMore(state)
  }

  /** Delivers the events held back until all operations have started. */
  onBegun({ held }: Opening): void {
    const state = this.#state
    state.opening = null
    if (held.events.length > 0) this.#goOn(held.events, held.from)
    else if (state.movedOutside && state.ending === null) this.#onDrained()
    else state.ready()
  }

  // ── ending

  /** Handles an invalid input. Before the first turn it ends the run; in a longer log the code must have changed. */
  #refuseInput(refused: InputRefused): void {
    const state = this.#state
    if (state.isOver) return
    if (state.log.head === 1) this.#end(failWith(new PawlError('input-invalid', refused), []))
    else if (state.isCancelled) leaveWithoutCode(state)
    else leave(state, unfitInput(this.id, refused))
  }

  #onCompleted(decision: Completed<ProcedureOperation>): void {
    const { output, left, closed } = decision
    const schema = this.#state.continuation.start.definition.output
    if (schema === undefined) this.#end(completeWith(output, left), closed)
    else void completeChecked(schema, decision).then((ending) => this.#end(ending, closed))
  }

  /** Fails the run. If the error of a failed operation has no location and a log line will show it, it is looked up. */
  #onFailed({ error, position, left, closed }: Failed<ProcedureOperation>): void {
    const state = this.#state
    if (state.parksBugs && isBug(error)) return stopAt(state, { error, position: null })
    state.hasReturned = true
    if (state.cancelled !== null && isCausedByCancel(error))
      return this.#end(cancelWith(state.cancelled.reason, left), closed)
    const ending = failWith(error, left)
    const report = reportFailure(this.id, state.claimed.procedure, ending.failure, position)
    state.report = report
    if (report.position === undefined || !this.#host.reports.isLineDue(report))
      return this.#end(ending, closed)
    const found = findCallSite(this.#host, state.replayed, report.position).then((at) => {
      state.report = at === '' ? report : { ...report, at }
      this.#end(ending, closed)
    })
    attempt(state, found)
  }

  #end(ending: Ending, closed: readonly Pending<ProcedureOperation>[] = []): void {
    const state = this.#state
    if (state.isOver) return
    state.ending = ending
    guard(state, () => {
      close(state, closed)
      // Open asks stay open until the end is written: an answer before that counts.
      beginAll(
        state,
        ending.left.filter(({ position }) => state.continuation.notes.isAsked(position)),
      )
      if (state.isOver) return
      state.phase = 'still'
      beginMore(state)
    })
  }

  // ── writing

  /** Returns the unit to write now; null if there is nothing to write. Called by the committer when it writes. */
  prepare(): Unit | null {
    return prepareUnit(this.#state)
  }

  /** Handles the outcome of the unit. */
  onOutcome(unit: Unit, outcome: UnitOutcome): void {
    const state = this.#state
    if (state.phase !== 'writing') return
    switch (outcome.outcome) {
      case 'ok':
        return void guard(state, () => this.#onWritten(unit, outcome))
      case 'lost':
        state.log.epoch = outcome.epoch
        return takeBack(state)
      case 'mail':
        if (outcome.mail < unit.seen) return leaveForgotten(state)
        state.mailbox.learn(outcome.mail)
        return takeBack(state)
      case 'fenced':
        this.#host.logger.warn(
          `Run "${this.id}" has another owner; this worker drops it and has written nothing`,
        )
        return this.onGone()
      case 'conflict':
        return leave(state, diagnoseConflict(this.id, unit, outcome.why))
    }
  }

  /** Returns the drafts of an unwritten unit to the next one, except the strict ones, which are decided again. */
  takeBack(): void {
    takeBack(this.#state)
  }

  #onWritten(unit: Unit, written: UnitOutcome & { readonly outcome: 'ok' }): void {
    const state = this.#state
    const next = takeIn(state, unit, written)
    switch (next.do) {
      case 'leave-forgotten':
        return leaveForgotten(state)
      case 'end':
        return this.#onEnded(state.ending as Ending)
      case 'park':
        return this.#onParked(next.wakeAt)
      case 'replay':
        return this.#replay()
      case 'deliver':
        return this.#goOn(next.events, next.from)
      case 'begin-more':
        return beginMore(state)
      case 'decide':
        return this.#onDrained()
      case 'look':
        return state.ready()
    }
  }

  #goOn(events: readonly LogEvent[], from: number): void {
    this.#state.outbox.onDelivered()
    if (this.#host.replay === 'when-needed') this.#deliver(events)
    else this.#replay(from)
  }

  #replay(newFrom?: number): void {
    const state = this.#state
    state.phase = 'moving'
    void readAgain(state, async () => {
      await state.continuation.replay(state.log, newFrom)
      this.#onDrained()
    })
  }

  #onParked(wakeAt: number | null): void {
    this.#state.phase = 'parked'
    this.#host.onParked(this, wakeAt)
    if (this.#state.movedOutside) this.#forgetMove()
  }

  #onEnded(ending: Ending): void {
    reportEnd(this.#host, this.#state, ending)
    if (ending.failure === null) this.#host.onCompleted(this, ending.payload)
    this.onGone()
    notifyOfEnd(this.#host, this.id)
  }

  // ── called by its parts

  onReady(): void {
    this.#host.onReady(this)
  }
  onProgress(): void {
    this.#host.onProgress(this)
  }
  onGone(): void {
    this.#host.onGone(this)
  }
  onStopped(bug: Bug): void {
    leaveFor(this.#state, () => diagnoseBug(this.#host, this.#state.replayed, bug))
  }

  // ── messages

  /** Records that there are messages up to this number. Nothing is decided until they are read. */
  onMail(counter: number): void {
    if (!this.#state.isOver) this.#state.mailbox.learn(counter)
  }

  /** Receives a message that was sent in this process. */
  onMessage(message: Message): void {
    if (this.#state.isOver) return
    this.#state.mailbox.receive(message)
    this.#state.ready()
  }

  onRead(): void {
    this.#state.ready()
  }
  onNew(message: Message): void {
    warnOfUndeclared(this.#host, this.#state.claimed, message)
  }
  onUnread(error: unknown): void {
    if (this.#state.isOver) return
    if (!(error instanceof ReadFailed)) return leaveBroken(this.#state, error, 'a message')
    this.#host.logger.error(`Run "${this.id}" could not read its messages; retrying`, {
      error: error.cause,
    })
  }
}
