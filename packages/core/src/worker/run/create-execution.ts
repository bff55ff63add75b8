import { readCancel } from '../../authoring/cancel.ts'
import { createProgram } from '../../authoring/context.ts'
import type { Exposed } from '../../authoring/exposed/exposed.ts'
import { ContinueRequests } from '../../authoring/generations/continue-as.ts'
import type { ProcedureOperation } from '../../authoring/operations.ts'
import { createRollbackProgress, type RollbackProgress } from '../../authoring/rollback/rollback.ts'
import { createChance } from '../../base/prng.ts'
import { isBug } from '../../errors/bug.ts'
import { captureCallSite } from '../../host/call-site.ts'
import { setImmediateNative } from '../../host/natives.ts'
import { turns } from '../../host/turn.ts'
import { Execution } from '../../kernel/execution.ts'
import type { ProgramServices } from '../services.ts'
import type { Branches } from './branches.ts'
import { remarkOnTimer } from './fired-timer.ts'
import type { Start } from './start.ts'

export interface ExecutionParts {
  readonly services: ProgramServices
  readonly runId: string
  readonly start: Start
  readonly branches: Branches
  /** Whether the run is replaying, when `ctx.log` is silent. */
  readonly isReplaying: () => boolean
  /** Called for an unhandled rejection, in its turn. */
  readonly onUnhandled?: (reason: unknown) => void
  /** Called outside all turns when the procedure moves outside a turn. */
  readonly onForeign: () => void
  /** Whether this is the execution that continues the run. */
  readonly isLoaded: (execution: Execution<ProcedureOperation>) => boolean
  /** Receives the requests to continue with an empty log. */
  readonly requests?: ContinueRequests
  /** Receives what the procedure shows of itself. Default: nothing does. */
  readonly exposed?: Exposed
  /** Records what the procedure undoes. */
  readonly rollback?: RollbackProgress
  /** Called for every issue that takes a position. */
  readonly onIssue?: (position: number) => void
}

const unseen: Exposed = { expose: () => {}, progress: () => {} }

/** Creates the execution of a run, before its first event. */
export function createExecution(parts: ExecutionParts): Execution<ProcedureOperation> {
  const { services, runId, start, branches, isReplaying, isLoaded, onForeign, onUnhandled, onIssue } = parts
  const rollback = parts.rollback ?? createRollbackProgress()
  const { determinism, logger, effects, decider, escalateTo, policy, remarks } = services
  const remark = (about: string, message: string): void => {
    const { name } = start.definition
    const key = `${about} in ${name}`
    if (isReplaying() || !remarks.isNew(key)) return
    const at = captureCallSite()
    remarks.warn(key, `Procedure "${name}"${at === undefined ? '' : ` (${at})`}: ${message}`, { run: runId })
  }
  const execution: Execution<ProcedureOperation> = new Execution({
    id: runId,
    turns,
    determinism,
    chance: chanceOf(start, () => execution.deliveredSeq),
    firstPosition: start.generation.firstPosition,
    program: createProgram({
      definition: start.definition,
      input: start.input,
      runId,
      depth: start.depth,
      logger,
      effects,
      decider,
      escalateTo,
      chooseBranch: (change, offered) => branches.choose(change, offered, !isReplaying()),
      policy,
      startedBy: start.by,
      isReplaying,
      remark,
      isParked: (error) => (start.definition.bugs ?? services.bugs) === 'park' && isBug(error),
      requests: parts.requests ?? new ContinueRequests(),
      rollback,
      exposed: parts.exposed ?? unseen,
      execution: () => execution,
    }),
    readCancel,
    onForeign: () => setImmediateNative(onForeign),
    // Deferred: if the timer made the procedure move, the foreign await is reported, with the timer.
    onTimerFired: (api, site) =>
      setImmediateNative(() => {
        if (execution.isOver || !isLoaded(execution)) return
        remarkOnTimer(remarks, { id: runId, procedure: start.definition.name }, api, site())
      }),
    onLate: (what) =>
      logger.warn(`Run "${runId}": its ctx was used after the end: ${what}. This has no effect`),
    onUnhandled,
    onIssue,
  })
  return execution
}

/** The chance of a run; of a fork, that of its original up to the events of its own. */
function chanceOf({ seed, fork }: Start, deliveredSeq: () => number): ReturnType<typeof createChance> {
  const chance = createChance(seed)
  if (fork === undefined) return chance
  const own = createChance(fork.seed)
  const present = (): typeof own => (deliveredSeq() < fork.from ? chance : own)
  return { random: () => present().random(), uuid: () => present().uuid() }
}
