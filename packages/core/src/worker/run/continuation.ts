import type { Exposed } from '../../authoring/exposed/exposed.ts'
import { ContinueRequests } from '../../authoring/generations/continue-as.ts'
import type { ProcedureOperation } from '../../authoring/operations.ts'
import { createRollbackProgress, type RollbackProgress } from '../../authoring/rollback/rollback.ts'
import { BegunUpdates } from '../../authoring/update/update.ts'
import type { Issues } from '../../base/issues.ts'
import { isBug } from '../../errors/bug.ts'
import { showFailure } from '../../errors/catalogue.ts'
import { failureOf, recordFailure } from '../../errors/failure.ts'
import type { LogEvent, WrittenEvent } from '../../events/event.ts'
import { firstGeneration, type Generation, generationIn, originOf } from '../../events/generation.ts'
import type {
  ForkFamily,
  ParentPayload,
  RunInfo,
  RunOrigin,
  StartedPayload,
  TraceContext,
} from '../../events/payloads.ts'
import { readStarted } from '../../events/read-started.ts'
import { findThrowSite } from '../../host/call-site.ts'
import { drain } from '../../host/drain.ts'
import { watchFromNowOn } from '../../host/watchdog/watchdog.ts'
import type { Decision } from '../../kernel/decision.ts'
import type { Execution } from '../../kernel/execution.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Scope } from '../../kernel/scope.ts'
import type { Claimed } from '../../ports/store/claims.ts'
import { forkFamilyOf } from '../../runs/fork-family.ts'
import type { WorkerServices } from '../services.ts'
import { Branches, type Marks, readMarks } from './branches.ts'
import { createExecution, type ExecutionHost } from './create-execution.ts'
import { LogIndex } from './log-index.ts'
import type { LogWriter } from './log-writer.ts'
import { readStart, type Start } from './start.ts'

/** The issues of an input that does not match the procedure's schema. */
export type InputRefused = Issues

interface Moves {
  /** Called when the procedure moves outside a turn. */
  onForeign(): void
}

/** The procedure of a loaded run, at the state reached by its log. */
export class Continuation implements ExecutionHost {
  readonly #services: WorkerServices
  readonly #claimed: Claimed
  readonly #moves: Moves
  readonly #exposed: Exposed
  #start: Start | null = null
  #parent: ParentPayload | null = null
  #trace: TraceContext | undefined
  #startedAt: number | null = null
  #execution: Execution<ProcedureOperation> | null = null
  #notes: LogIndex | null = null
  #endsUnbegun = false
  #mayHaveBegun = false
  #rollback: RollbackProgress | null = null
  #branches: Branches | null = null
  #requests: ContinueRequests | null = null
  #begunUpdates: BegunUpdates | null = null
  #generation: Generation = firstGeneration
  #forkedFrom: RunInfo['forkedFrom']
  #origin: RunOrigin | null = null
  #family: ForkFamily | null = null
  /** True while the events being delivered were in the log before this continuation. */
  #isReplaying = false
  #isDropped = false

  /** `exposed` receives what the procedure shows of itself. */
  constructor(services: WorkerServices, claimed: Claimed, moves: Moves, exposed: Exposed) {
    this.#exposed = exposed
    this.#services = services
    this.#claimed = claimed
    this.#moves = moves
  }

  get start(): Start {
    return this.#start as Start
  }
  /** The run that created it; null if a caller did, or if its first event was not read yet. */
  get parent(): ParentPayload | null {
    return this.#parent
  }
  /** The generation of the log; the first one if its first event was not read yet. */
  get generation(): Generation {
    return this.#generation
  }
  /** The trace that it belongs to. */
  get trace(): TraceContext | undefined {
    return this.#trace
  }
  /** When it started, by the store's clock; null if its first event was not read yet. */
  get startedAt(): number | null {
    return this.#startedAt
  }
  /** What lists show of how its log came to be; null: it is the first of its run, which is no fork. */
  get origin(): RunOrigin | null {
    return this.#origin
  }
  /** The run that it is a fork of, and where; undefined if it is none. */
  get forkedFrom(): RunInfo['forkedFrom'] {
    return this.#forkedFrom
  }
  /** The fork to whose family it belongs; null if it belongs to none. */
  get family(): ForkFamily | null {
    return this.#family
  }
  /** The event that must be written before the first one is delivered. */
  get accepted(): WrittenEvent | null {
    return this.#start?.accepted ?? null
  }
  /** The index of the delivered log. */
  get notes(): LogIndex {
    this.#notes ??= new LogIndex()
    return this.#notes
  }
  /** What the procedure has undone. */
  get rollback(): RollbackProgress {
    this.#rollback ??= createRollbackProgress()
    return this.#rollback
  }
  /** The branches that it takes at changes of the code. */
  get branches(): Branches {
    this.#branches ??= new Branches()
    return this.#branches
  }
  /** The requests of the procedure to continue with an empty log. */
  get requests(): ContinueRequests {
    this.#requests ??= new ContinueRequests()
    return this.#requests
  }
  /** The updates whose handlers have begun. */
  get begunUpdates(): BegunUpdates {
    this.#begunUpdates ??= new BegunUpdates()
    return this.#begunUpdates
  }
  /** The position of the next operation. */
  get nextPosition(): number {
    return this.#execution?.nextPosition ?? 0
  }
  /** The operations without a result. */
  get pending(): readonly Pending<ProcedureOperation>[] {
    return [...(this.#execution?.pending.values() ?? [])]
  }
  /** The current turn. */
  get turn(): number {
    return this.#execution?.turn ?? 0
  }
  /** Returns the scope of a pending operation. */
  scopeOf(position: number): Scope | undefined {
    return this.#execution?.pending.get(position)?.scope
  }
  /** Whether an operation is pending. One of an earlier replay is not: the latest replay has issued another in its place. */
  isPending(one: Pending<ProcedureOperation>): boolean {
    return this.#execution?.pending.get(one.position) === one
  }
  /** Whether a worker has owned this generation before: its first turn may have run, although the log has no event of it. */
  get mayHaveBegun(): boolean {
    return this.#mayHaveBegun
  }
  /** Whether its timeout had passed before its first turn: none of its code has run. */
  get endsUnbegun(): boolean {
    return this.#endsUnbegun
  }
  /** When it cancels itself, by the store's clock; null: never. */
  get timeoutAt(): number | null {
    return this.#start?.timeoutAt ?? null
  }
  /** When its grace began; null: it is not cancelled, and no open shield holds up its end. */
  get graceFrom(): number | null {
    return this.#execution?.graceFrom ?? null
  }
  /** The unhandled rejections. */
  get unhandled(): readonly unknown[] {
    return this.#execution?.unhandled ?? []
  }

  /** Reads the first event. @throws PayloadCorrupt, WrittenLater */
  noteParent(started: LogEvent): StartedPayload {
    const payload = readStarted(started)
    this.#parent = payload.parent ?? null
    this.#generation = generationIn(payload, started)
    const origin = payload.forkedFrom ?? payload.fork
    this.#forkedFrom = origin && { run: origin.run, position: origin.position }
    this.#origin = originOf(this.#generation, this.#forkedFrom)
    this.#family = forkFamilyOf(this.#claimed.id, payload)
    this.#notes = new LogIndex(this.#generation)
    this.#trace = payload.trace
    this.#startedAt = started.at
    this.#mayHaveBegun = !this.#isNew(started)
    return payload
  }

  /** Drops the continuation: it is ignored from now on. */
  drop(): void {
    this.#isDropped = true
  }

  /** Prepares the delivery of the first event. `second`: the next event, if there is one. `marks`: the known marks of the log. */
  async begin(started: LogEvent, second?: LogEvent, marks?: Marks): Promise<InputRefused | null> {
    const { id, procedure, version } = this.#claimed
    const definition = this.#services.procedure(procedure, version)
    if (definition === undefined)
      throw new Error(`Run "${id}" was claimed without its procedure "${procedure}"`)
    const payload = this.noteParent(started)
    const start = await readStart(definition, started, second, payload)
    if ('issues' in start) return start
    this.#start = start
    this.#rollback = createRollbackProgress()
    this.#branches = new Branches(marks)
    this.#requests = new ContinueRequests()
    this.#begunUpdates = new BegunUpdates()
    this.#execution = createExecution({
      services: this.#services,
      runId: id,
      start,
      branches: this.#branches,
      rollback: this.#rollback,
      exposed: this.#exposed,
      requests: this.#requests,
      begunUpdates: this.#begunUpdates,
      host: this,
    })
    return null
  }

  /**
   * Creates the procedure again and delivers the whole log to it, unless an event has to be written first. `ctx.log` logs
   * from event `newFrom` on; by default for events that no worker has delivered before.
   */
  async replay(log: LogWriter, newFrom?: number): Promise<InputRefused | null> {
    if (this.#claimed.tries > 0) watchFromNowOn()
    const outcome = await this.#replayWith(log, newFrom, undefined)
    return outcome === 'late-mark'
      ? (this.#replayWith(log, newFrom, await readMarks(log)) as Promise<null>)
      : outcome
  }

  /** 'late-mark': a mark came after its change, so that the log has to be replayed with all its marks. */
  async #replayWith(
    log: LogWriter,
    newFrom: number | undefined,
    marks: Marks | undefined,
  ): Promise<InputRefused | null | 'late-mark'> {
    for await (const page of log.pages()) {
      const [first, second] = page as readonly [LogEvent, LogEvent?]
      const refused = first.seq === log.base ? await this.begin(first, second, marks) : null
      if (refused !== null || this.accepted !== null) return refused
      if (!this.branches.learn(page)) return 'late-mark'
      this.notes.add(page)
      if (this.isUnbegun(log, first) && this.#isOverdue) {
        this.#endsUnbegun = true
        return null
      }
      const known = Math.max(0, (newFrom ?? (this.#isNew(first) ? 0 : log.head)) - first.seq)
      this.#isReplaying = true
      const isMoreAhead = first.seq + page.length < log.head
      await this.#drained(page.slice(0, known), isMoreAhead || known < page.length)
      this.#isReplaying = false
      await this.#drained(page.slice(known), isMoreAhead)
    }
    return null
  }

  get #isOverdue(): boolean {
    return this.timeoutAt !== null && this.timeoutAt <= this.#services.time.now()
  }

  /** Whether not even the first turn of the run has run. */
  isUnbegun({ length }: LogWriter, first: LogEvent): boolean {
    return length === 1 && this.#isNew(first)
  }

  /** Whether no worker has owned this generation before, so that not even its first turn has run. */
  #isNew({ seq, epoch }: LogEvent): boolean {
    const { base, epoch: claimed } = this.#claimed
    if (seq !== base) return false
    // A caller has begun it with the epoch before that of its first owner.
    if (this.#generation.why === 'again') return claimed === epoch + 1
    return epoch === 0 && claimed === 2
  }

  /** Delivers events of the log. `isMoreAhead`: the log is known to have more events. Replayed turns are not watched: nearly all of them have ended once. */
  deliver(events: readonly LogEvent[], onDrained: () => void, isMoreAhead = false): void {
    if (!this.#isReplaying) watchFromNowOn()
    const execution = this.#execution as Execution<ProcedureOperation>
    execution.enqueue(events, isMoreAhead)
    drain(execution, onDrained)
  }

  /** Returns the decision once all is delivered; synchronously, unless the procedure may still move outside a turn. */
  decide(onDecided: (decision: Decision<ProcedureOperation>) => void): void {
    const execution = this.#execution as Execution<ProcedureOperation>
    if (execution.needsGrace) this.#services.allowGrace(() => onDecided(execution.decide()))
    else onDecided(execution.decide())
  }

  // ── called by its execution

  /** True while the events being delivered were in the log before this continuation. */
  get isReplaying(): boolean {
    return this.#isReplaying
  }
  isLoaded(execution: Execution<ProcedureOperation>): boolean {
    return !this.#isDropped && execution === this.#execution
  }
  onForeign(): void {
    this.#moves.onForeign()
  }
  /** Reports a bug at once. A rejection does not change the outcome and may still be handled, but a bug should not wait for the end. */
  onUnhandled(reason: unknown): void {
    if (this.#isReplaying || !isBug(reason)) return
    const { id: run, procedure } = this.#claimed
    const failure = failureOf(recordFailure(reason))
    this.#services.reports.add({
      ...{ run, procedure, outcome: 'has an unhandled rejection', code: failure.code ?? failure.name },
      ...{ at: findThrowSite(reason), cause: showFailure(failure) },
      remedy: 'The run continues. Await the promise that was rejected, or handle its error.',
    })
  }

  #drained(events: readonly LogEvent[], isMoreAhead: boolean): Promise<void> {
    return events.length === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.deliver(events, resolve, isMoreAhead))
  }
}
