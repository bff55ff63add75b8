import { readCancel } from '../../authoring/cancel.ts'
import { runProgram } from '../../authoring/context.ts'
import type { Exposed } from '../../authoring/exposed/exposed.ts'
import { ContinueRequests } from '../../authoring/generations/continue-as.ts'
import type { ProcedureOperation } from '../../authoring/operations.ts'
import type { ProgramOptions } from '../../authoring/program-options.ts'
import { createRollbackProgress, type RollbackProgress } from '../../authoring/rollback/rollback.ts'
import { BegunUpdates } from '../../authoring/update/update.ts'
import { type Chance, createChance } from '../../base/prng.ts'
import { isBug } from '../../errors/bug.ts'
import { captureCallSite } from '../../host/call-site.ts'
import { setImmediateNative } from '../../host/natives.ts'
import { turns } from '../../host/turn.ts'
import { Execution, type ExecutionOptions } from '../../kernel/execution.ts'
import type { Issue, Scopes } from '../../kernel/operation.ts'
import type { ProgramServices } from '../services.ts'
import type { Branches } from './branches.ts'
import { remarkOnTimer } from './fired-timer.ts'
import type { Start } from './start.ts'

/** The parts of a run that its execution uses. */
export interface ExecutionParts {
  readonly services: ProgramServices
  readonly runId: string
  readonly start: Start
  readonly branches: Branches
  /** Receives the requests to continue with an empty log. */
  readonly requests?: ContinueRequests
  /** Records the updates whose handlers have begun. */
  readonly begunUpdates?: BegunUpdates
  /** Receives what the procedure shows of itself. Default: nothing does. */
  readonly exposed?: Exposed
  /** Records what the procedure undoes. */
  readonly rollback?: RollbackProgress
  readonly host: ExecutionHost
  /** Called for every issue that takes a position. */
  readonly onIssue?: (position: number) => void
}

/** The owner of an execution. */
export interface ExecutionHost {
  /** Whether the run is replaying, when `ctx.log` is silent. */
  readonly isReplaying: boolean
  /** Called for an unhandled rejection, in its turn. */
  onUnhandled?(reason: unknown): void
  /** Called outside all turns when the procedure moves outside a turn. */
  onForeign?(): void
  /** Whether this is the execution that continues the run. */
  isLoaded?(execution: Execution<ProcedureOperation>): boolean
}

/** The host of an execution that only replays a log, and that no run continues. */
export const replayOnly: ExecutionHost = { isReplaying: true }

const unseen: Exposed = { expose: () => {}, progress: () => {} }

/** Creates the execution of a run, before its first event. */
export function createExecution(parts: ExecutionParts): Execution<ProcedureOperation> {
  const program = new RunProgram(parts)
  program.execution = new Execution(program)
  return program.execution
}

/** What an execution and the context of its procedure get from their run. One object without closures: most runs are short. */
class RunProgram implements ProgramOptions, ExecutionOptions<ProcedureOperation> {
  readonly #parts: ExecutionParts
  execution!: Execution<ProcedureOperation>
  readonly chance: Chance
  readonly requests: ContinueRequests
  readonly rollback: RollbackProgress
  readonly begunUpdates: BegunUpdates

  constructor(parts: ExecutionParts) {
    this.#parts = parts
    this.requests = parts.requests ?? new ContinueRequests()
    this.rollback = parts.rollback ?? createRollbackProgress()
    this.begunUpdates = parts.begunUpdates ?? new BegunUpdates()
    this.chance = createChanceOf(parts.start, () => this.execution.deliveredSeq)
  }

  // ── for the kernel

  get id(): string {
    return this.#parts.runId
  }
  get turns(): typeof turns {
    return turns
  }
  get determinism(): ProgramServices['determinism'] {
    return this.#parts.services.determinism
  }
  get firstPosition(): number {
    return this.#parts.start.generation.firstPosition
  }
  get readCancel(): typeof readCancel {
    return readCancel
  }
  get onIssue(): ExecutionParts['onIssue'] {
    return this.#parts.onIssue
  }
  program(_issue: Issue<ProcedureOperation>, scopes: Scopes<ProcedureOperation>): unknown {
    return runProgram(this, scopes)
  }
  onForeign(): void {
    setImmediateNative(() => this.#parts.host.onForeign?.())
  }
  /** Deferred: if the timer made the procedure move, the foreign await is reported, with the timer. */
  onTimerFired(api: string, site: () => string | undefined): void {
    setImmediateNative(() => {
      const { services, start, runId, host } = this.#parts
      if (this.execution.isOver || host.isLoaded?.(this.execution) !== true) return
      remarkOnTimer(services.remarks, { id: runId, procedure: start.definition.name }, api, site())
    })
  }
  onLate(what: string): void {
    const { services, runId } = this.#parts
    services.logger.warn(`Run "${runId}": its ctx was used after the end: ${what}. This has no effect`)
  }
  onUnhandled(reason: unknown): void {
    this.#parts.host.onUnhandled?.(reason)
  }

  // ── for the context

  get runId(): string {
    return this.#parts.runId
  }
  get definition(): ProgramOptions['definition'] {
    return this.#parts.start.definition
  }
  get depth(): number {
    return this.#parts.start.depth
  }
  get startedBy(): ProgramOptions['startedBy'] {
    return this.#parts.start.by
  }
  get isReplaying(): boolean {
    return this.#parts.host.isReplaying
  }
  get isKept(): boolean {
    return this.execution.deliveredSeq < this.#parts.start.keptUntil
  }
  get logger(): ProgramOptions['logger'] {
    return this.#parts.services.logger
  }
  get effects(): ProgramOptions['effects'] {
    return this.#parts.services.effects
  }
  get decider(): ProgramOptions['decider'] {
    return this.#parts.services.decider
  }
  get escalateTo(): string | undefined {
    return this.#parts.services.escalateTo
  }
  get policy(): ProgramOptions['policy'] {
    return this.#parts.services.policy
  }
  get exposed(): Exposed {
    return this.#parts.exposed ?? unseen
  }
  get remark(): ProgramOptions['remark'] {
    return (about, message) => this.#remark(about, message)
  }
  input(): unknown {
    return this.#parts.start.input()
  }
  chooseBranch(change: string, offered: readonly number[]): number {
    return this.#parts.branches.choose(change, offered, !this.isReplaying)
  }
  isParked(error: unknown): boolean {
    const { start, services } = this.#parts
    return (start.definition.bugs ?? services.bugs) === 'park' && isBug(error)
  }

  #remark(about: string, message: string): void {
    const { name } = this.definition
    const { remarks } = this.#parts.services
    const key = `${about} in ${name}`
    if (this.isReplaying || !remarks.isNew(key)) return
    const at = captureCallSite()
    remarks.warn(key, `Procedure "${name}"${at === undefined ? '' : ` (${at})`}: ${message}`, {
      run: this.runId,
    })
  }
}

/** Creates the chance of a run; of a fork, that of its original up to the events of its own. */
function createChanceOf({ seed, fork }: Start, deliveredSeq: () => number): Chance {
  const chance = createChance(seed)
  if (fork === undefined) return chance
  const own = createChance(fork.seed)
  const present = (): Chance => (deliveredSeq() < fork.from ? chance : own)
  return { random: () => present().random(), uuid: () => present().uuid() }
}
