import { Execution, type LogEvent, type ProcedureOperation, type Scope } from '@pawl/core/internal'
import { AskedQuestions } from './questions.ts'

/** What an exploration learns of the procedure that it executes. */
export interface Watcher {
  /** Returns what the procedure reads instead of a result. */
  onRead(event: LogEvent, value: unknown): unknown
  /** Called when the procedure reads the time. */
  onTime(): void
}

/** The kernel, as it is, with what the procedure reads and awaits noted. */
export class ExploredExecution extends Execution<ProcedureOperation> {
  readonly questions: AskedQuestions = new AskedQuestions()
  readonly #watcher: Watcher
  /** How each operation reads its result without being watched. */
  readonly #readers = new WeakMap<ProcedureOperation, ProcedureOperation['read']>()

  constructor(options: ConstructorParameters<typeof Execution<ProcedureOperation>>[0], watcher: Watcher) {
    super(options)
    this.#watcher = watcher
  }

  override issueIn(scope: Scope, operation: ProcedureOperation): Promise<unknown> {
    const { read } = operation
    const onRead = (event: LogEvent): unknown => {
      if (asked !== null) asked.isAnswered = true
      return this.#watcher.onRead(event, read(event))
    }
    const watched = { ...operation, read: onRead }
    this.#readers.set(watched, read)
    const isRefused = this.refusalOf(scope) !== null
    const promise = super.issueIn(scope, watched)
    const asked = isRefused ? null : this.questions.noteIssued(operation, promise)
    return promise
  }

  /** Reads a result as the procedure does, unwatched. */
  peek(operation: ProcedureOperation, event: LogEvent): unknown {
    return (this.#readers.get(operation) ?? operation.read)(event)
  }

  override now(): number {
    this.#watcher.onTime()
    return super.now()
  }
}
