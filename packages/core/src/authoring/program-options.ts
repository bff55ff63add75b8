import type { Actor } from '../base/people.ts'
import type { Effects } from '../ports/effects.ts'
import type { Logger } from '../ports/logger.ts'
import type { AgentDefinition } from './agent/agent.ts'
import type { Exposed } from './exposed/exposed.ts'
import type { ContinueRequests } from './generations/continue-as.ts'
import type { Policy } from './policy/policy.ts'
import type { ProcedureDefinition } from './procedure.ts'
import type { Remark } from './remark.ts'
import type { RollbackProgress } from './rollback/rollback.ts'
import type { BegunUpdates } from './update/update.ts'

/** The parts of a run that the context of its procedure uses. */
export interface ProgramOptions {
  readonly definition: ProcedureDefinition
  /** Returns the input, decoded into a new value. */
  input(): unknown
  readonly runId: string
  /** The number of runs above this one. */
  readonly depth: number
  /** The execution that runs the program. */
  readonly execution: {
    stop(error: unknown): void
    now(): number
    random(): number
    uuid(): string
    readonly hasTurn: boolean
    /** The number of operations without a result. */
    readonly pendingCount: number
    foreign(what: string): void
  }
  /** Chooses the branch of the run at a change of the code. `offered`: the branches of the code, in ascending order. */
  chooseBranch(change: string, offered: readonly number[]): number
  /** Whether the run is replaying, when `ctx.log` is silent. */
  readonly isReplaying: boolean
  /** Whether the last delivered event is of a generation that has failed, and was kept by its retry. */
  readonly isKept: boolean
  readonly logger: Logger
  readonly effects: Effects
  /** Returns whether an error of the procedure parks the run, so that nothing is undone. */
  isParked(error: unknown): boolean
  /** Receives the requests to continue with an empty log. */
  readonly requests: ContinueRequests
  /** Records the updates whose handlers have begun. */
  readonly begunUpdates: BegunUpdates
  /** Receives what the procedure shows of itself. */
  readonly exposed: Exposed
  /** Receives what is undone. */
  readonly rollback: RollbackProgress
  /** The default agent for `decide`. */
  readonly decider: AgentDefinition | undefined
  /** The default audience of `onTimeout: 'escalate'`. */
  readonly escalateTo: string | undefined
  /** The policy of the engine. */
  readonly policy: Policy | undefined
  /** Who started the run. */
  readonly startedBy: Actor | undefined
  /** Warns of code that is legal but probably unintended, once for each `about` of a procedure. */
  readonly remark: Remark
}
