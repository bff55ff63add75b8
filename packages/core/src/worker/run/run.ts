import type { AskSpec } from '../../authoring/operations.ts'
import type { LogEvent } from '../../events/event.ts'
import type { Claimed } from '../../ports/store/claims.ts'
import type { Unit, UnitOutcome } from '../../ports/store/log.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import {
  decide,
  deliver,
  forgetMove,
  goOn,
  onBegun,
  onForeign,
  refuseInput,
  replay,
  waitForWithheld,
} from './deciding.ts'
import { type Bug, diagnoseBug, diagnoseConflict, diagnoseCrashes } from './diagnose.ts'
import { notifyOfAsks, notifyOfEnd, reportContinued, reportEnd } from './ended.ts'
import type { Ending } from './ending.ts'
import type { NextGeneration } from './generations.ts'
import { noteRefused } from './holding.ts'
import { guard, leave, leaveBroken, leaveFor, leaveForgotten, leaveWithoutCode } from './leaving.ts'
import { loadRun, readAgain } from './loading.ts'
import { ReadFailed } from './log-reader.ts'
import { prepareUnit } from './next-unit.ts'
import type { Opening } from './opening.ts'
import { beginMore } from './operations.ts'
import { unreadFor } from './park-with-error.ts'
import { type RunMoves, type RunServices, RunState } from './state.ts'
import { warnOfUndeclared } from './warnings.ts'
import { onRefused, takeBack, takeIn } from './written.ts'

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
  /** Called when it has begun its next generation, which its worker continues. */
  onContinued(run: Run, next: NextGeneration): void
  /** Called when it is over, or has another owner. */
  onGone(run: Run, dueAt?: number): void
}

/**
 * A run that its worker owns: from its claim to its park or end. The files beside it compute each part of it, the committer
 * writes, and the drain delivers.
 */
export class Run implements RunMoves {
  readonly key: RunKey
  readonly id: string
  readonly #host: RunCallbacks
  readonly #state: RunState

  constructor(host: RunCallbacks, claimed: Claimed) {
    this.key = claimed.run
    this.id = claimed.id
    this.#host = host
    this.#state = new RunState(host, claimed, this)
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

  /** Begins a run, or its next generation, that this worker has just created: nothing needs to be read. */
  begin(events: readonly LogEvent[], messages: readonly Message[] = []): void {
    const { log, mailbox, continuation, id } = this.#state
    const [started, ...others] = events as readonly [LogEvent, ...LogEvent[]]
    log.begin(events)
    mailbox.takeOver(messages)
    continuation.begin(started).then(
      (refused) => {
        if (refused !== null) return refuseInput(this.#state, refused)
        if (others.length > 0) continuation.notes.add(others)
        deliver(this.#state, events)
      },
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
    if (loaded.is === 'refused') return refuseInput(this.#state, loaded.refused)
    if (state.isOver || state.continuation.accepted === null) return decide(this.#state)
    state.moveTo('still')
    state.ready()
  }

  /** Resumes the run after it was claimed again with its continuation still in memory. */
  wake({ epoch, mail }: Claimed, message: Message | null): void {
    const state = this.#state
    state.log.epoch = epoch
    state.moveTo('still')
    if (message !== null) state.mailbox.receive(message)
    state.mailbox.learn(mail)
    beginMore(state)
  }

  /**
   * Whether this continuation is at the state of the claimed run. If another worker has owned the run since, no event tells of the
   * attempts that it has not recorded.
   */
  continues({ head, epoch }: Claimed): boolean {
    const { phase, log, activities } = this.#state
    if (phase !== 'parked' || log.head !== head) return false
    return log.epoch + 1 === epoch || !activities.hasBodies
  }

  /** Releases everything without writing. */
  drop(): void {
    this.#state.drop()
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
        noteRefused(state, outcome.mail)
        return takeBack(state)
      case 'refused':
        return void guard(state, () => onRefused(state, outcome.item, outcome.why))
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
      case 'continue':
        return this.#onContinued(next.next)
      case 'park':
        return this.#onParked(next.wakeAt)
      case 'replay':
        return replay(state)
      case 'deliver':
        return goOn(state, next.events, next.from)
      case 'begin-more':
        return beginMore(state)
      case 'wait':
        return waitForWithheld(state)
      case 'decide':
        return decide(this.#state)
      case 'look':
        return state.ready()
    }
  }

  #onParked(wakeAt: number | null): void {
    this.#state.moveTo('parked')
    this.#host.onParked(this, wakeAt)
    if (this.#state.movedOutside) forgetMove(this.#state)
  }

  #onContinued(next: NextGeneration): void {
    reportContinued(this.#host, this.#state)
    this.#host.onContinued(this, next)
    notifyOfAsks(this.#host.notifier, this.id)
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
  onGone(dueAt?: number): void {
    this.#host.onGone(this, dueAt)
  }
  onForeign(): void {
    onForeign(this.#state)
  }
  onBegun(opening: Opening): void {
    onBegun(this.#state, opening)
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
