import type { ProcedureOperation } from '../../authoring/operations.ts'
import type { Issues } from '../../base/issues.ts'
import { isBug } from '../../errors/bug.ts'
import { showFailure } from '../../errors/catalogue.ts'
import { failureOf, recordFailure } from '../../errors/failure.ts'
import type { LogEvent, WrittenEvent } from '../../events/event.ts'
import type { RollbackRecord } from '../../events/payloads.ts'
import { findThrowSite } from '../../host/call-site.ts'
import { allowGrace, drain } from '../../host/drain.ts'
import { watchFromNowOn } from '../../host/watchdog/watchdog.ts'
import type { Decision } from '../../kernel/decision.ts'
import type { Execution } from '../../kernel/execution.ts'
import type { Scope } from '../../kernel/scope.ts'
import type { Claimed } from '../../ports/store/claims.ts'
import type { WorkerServices } from '../services.ts'
import { createExecution, createRollbackRecord } from './create-execution.ts'
import { LogIndex } from './log-index.ts'
import type { LogWriter } from './log-writer.ts'
import { readStart, type Start } from './start.ts'

/** The input does not fit the procedure. */
export type InputRefused = Issues

/** The procedure of a run in memory, at the point to which its log has brought it. */
export class Continuation {
  readonly #services: WorkerServices
  readonly #claimed: Claimed
  readonly #onForeign: () => void
  #start: Start | null = null
  #execution: Execution<ProcedureOperation> | null = null
  #notes = new LogIndex()
  #rollback: RollbackRecord = createRollbackRecord()
  /** True while what is delivered was in the log before this continuation. */
  #isReplaying = false
  #isDropped = false

  /** `onForeign`: the procedure was seen to move outside a turn. */
  constructor(services: WorkerServices, claimed: Claimed, onForeign: () => void) {
    this.#services = services
    this.#claimed = claimed
    this.#onForeign = onForeign
  }

  get start(): Start {
    return this.#start as Start
  }
  /** What has to be in the log before its first event is delivered. */
  get accepted(): WrittenEvent | null {
    return this.#start?.accepted ?? null
  }
  /** What is remembered of the log. */
  get notes(): LogIndex {
    return this.#notes
  }
  /** What the procedure has undone; null if nothing. */
  get rollback(): RollbackRecord | null {
    return this.#rollback.reason === undefined ? null : this.#rollback
  }
  /** The turn it has come to. */
  get turn(): number {
    return this.#execution?.turn ?? 0
  }
  /** The scope of a pending operation. */
  scopeOf(position: number): Scope | undefined {
    return this.#execution?.pending.get(position)?.scope
  }
  /** Rejections that nobody has handled. */
  get unhandled(): readonly unknown[] {
    return this.#execution?.unhandled ?? []
  }

  /** Nothing is made of what happens to it from now on. */
  drop(): void {
    this.#isDropped = true
  }

  /** Brings it to its first event, which is yet to be delivered. `second`: the one that follows, if there is one. */
  async begin(started: LogEvent, second?: LogEvent): Promise<InputRefused | null> {
    const { id, procedure, version } = this.#claimed
    const definition = this.#services.procedure(procedure, version)
    if (definition === undefined)
      throw new Error(`run "${id}" was claimed without its procedure "${procedure}"`)
    const start = await readStart(definition, started, second)
    if ('issues' in start) return start
    this.#start = start
    this.#notes = new LogIndex()
    this.#rollback = createRollbackRecord()
    this.#execution = createExecution({
      services: this.#services,
      runId: id,
      start,
      isReplaying: () => this.#isReplaying,
      isLoaded: (execution) => !this.#isDropped && execution === this.#execution,
      onForeign: this.#onForeign,
      onUnhandled: (reason) => this.#onUnhandled(reason),
      rollback: this.#rollback,
    })
    return null
  }

  /**
   * Makes it anew and delivers the whole log to it, unless something has to be in it first. Of events from `newFrom` on,
   * what is logged is said; by default of those that no worker has ever been given.
   */
  async replay(log: LogWriter, newFrom?: number): Promise<InputRefused | null> {
    if (this.#claimed.tries > 0) watchFromNowOn()
    for await (const page of log.pages()) {
      const [first, second] = page as readonly [LogEvent, LogEvent?]
      const refused = first.seq === 0 ? await this.begin(first, second) : null
      if (refused !== null || this.accepted !== null) return refused
      this.#notes.add(page)
      const known = Math.max(0, (newFrom ?? (this.#isNew(first) ? 0 : log.head)) - first.seq)
      this.#isReplaying = true
      await this.#drained(page.slice(0, known))
      this.#isReplaying = false
      await this.#drained(page.slice(known))
    }
    return null
  }

  /** Nobody owned the run when it was made, nor until now: not even its first turn has been. */
  #isNew({ seq, epoch }: LogEvent): boolean {
    return seq === 0 && epoch === 0 && this.#claimed.epoch === 2
  }

  /** Delivers what has come to be in its log. Turns that only replay it are not watched: nearly all have ended once. */
  deliver(events: readonly LogEvent[], onDrained: () => void): void {
    if (!this.#isReplaying) watchFromNowOn()
    const execution = this.#execution as Execution<ProcedureOperation>
    execution.enqueue(events)
    drain(execution, onDrained)
  }

  /** What the procedure wants, once all is delivered; at once, unless it may yet be seen to move outside a turn. */
  decide(onDecided: (decision: Decision<ProcedureOperation>) => void): void {
    const execution = this.#execution as Execution<ProcedureOperation>
    if (execution.needsGrace) allowGrace(() => onDecided(execution.decide()))
    else onDecided(execution.decide())
  }

  /** It alters no outcome, and a handler may still come; but a bug is not to wait for the end of the run. */
  #onUnhandled(reason: unknown): void {
    if (this.#isReplaying || !isBug(reason)) return
    const { id: run, procedure } = this.#claimed
    const failure = failureOf(recordFailure(reason))
    this.#services.reports.add({
      ...{ run, procedure, outcome: 'has an unhandled rejection', code: failure.code ?? failure.name },
      ...{ at: findThrowSite(reason), cause: showFailure(failure) },
      remedy: 'The run continues. Await the promise that was rejected, or handle its error.',
    })
  }

  #drained(events: readonly LogEvent[]): Promise<void> {
    return events.length === 0 ? Promise.resolve() : new Promise((resolve) => this.deliver(events, resolve))
  }
}
