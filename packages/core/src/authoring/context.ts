import { implement } from '../base/implement.ts'
import { checkFunction, checkName, checkText, refuse } from '../checks/options.ts'
import { PawlError } from '../errors/pawl-error.ts'
import type { LogEvent } from '../events/event.ts'
import type { Program, Scopes } from '../kernel/operation.ts'
import type { Scope } from '../kernel/scope.ts'
import type { Effects } from '../ports/effects.ts'
import type { Logger } from '../ports/logger.ts'
import type { AgentDefinition } from './agent/agent.ts'
import { createAgentOps } from './agent/context.ts'
import { type ChildCount, createChildOps } from './children/context.ts'
import type { Ctx } from './ctx.ts'
import { createHuman } from './human/context.ts'
import { askKeyOf, type IssueOperation, type ProcedureOperation } from './operations.ts'
import type { ProcedureDefinition } from './procedure.ts'
import type { Remark } from './remark.ts'
import { readValue } from './results.ts'
import { Rollback, type RollbackProgress } from './rollback/rollback.ts'
import { map } from './scopes/map.ts'
import { race } from './scopes/race.ts'
import { Bodies, type Scoped } from './scopes/scoped.ts'
import { shield } from './scopes/shield.ts'
import { receiveAny, receiveOne } from './signal/signal.ts'
import { defaultPolicy, readStepOptions, readUndo, type Undo } from './step/options.ts'
import type { StepCall } from './step/step.ts'
import { sleepFor, sleepUntil } from './timer/timer.ts'
import { type Change, type ChooseBranch, readChange } from './version/version.ts'

/** The parts of a run that the context of its procedure uses. */
export interface ProgramOptions {
  readonly definition: ProcedureDefinition
  /** Returns the input, decoded into a new value. */
  readonly input: () => unknown
  readonly runId: string
  /** The number of runs above this one. */
  readonly depth: number
  /** The execution that runs the program. */
  readonly execution: () => {
    stop(error: unknown): void
    now(): number
    random(): number
    uuid(): string
    readonly hasTurn: boolean
    /** The number of operations without a result. */
    readonly pendingCount: number
    foreign(what: string): void
  }
  /** Chooses the branch of the run at a change of the code. */
  readonly chooseBranch: ChooseBranch
  /** Whether the run is replaying, when `ctx.log` is silent. */
  readonly isReplaying: () => boolean
  readonly logger: Logger
  readonly effects: Effects
  /** Returns whether an error of the procedure parks the run, so that nothing is undone. */
  readonly isParked: (error: unknown) => boolean
  /** Receives what is undone. */
  readonly rollback: RollbackProgress
  /** The default agent for `decide`. */
  readonly decider: AgentDefinition | undefined
  /** The default audience of `onTimeout: 'escalate'`. */
  readonly escalateTo: string | undefined
  /** Warns of code that is legal but probably unintended, once for each `about` of a procedure. */
  readonly remark: Remark
}

/** Creates the kernel's program of a procedure: its body, with a context on top of the root scope. */
export function createProgram(options: ProgramOptions): Program<ProcedureOperation> {
  return (_issue, scopes) => {
    const rollback = new Rollback({
      scopes,
      isParked: options.isParked,
      record: options.rollback,
      owner: options.definition.asksOnFailedUndo === true ? options.definition.owner : undefined,
    })
    const ctxOf = createContexts(options, scopes, rollback)
    return rollback.guard(options.definition.body(ctxOf(scopes.root), options.input()))
  }
}

type ScopedCtx = Scoped<Ctx> & { readonly scopes: Scopes<ProcedureOperation>; readonly rollback: Rollback }

/** Creates the contexts of a run's scopes. */
function createContexts(
  options: ProgramOptions,
  scopes: Scopes<ProcedureOperation>,
  rollback: Rollback,
): (scope: Scope) => Ctx {
  const bodies = new Bodies()
  const checkKey = createKeyCheck()
  const children: ChildCount = { spawned: 0 }
  const ctxOf = (scope: Scope): Ctx =>
    createContext(options, { scope, scopes, bodies, ctxOf, rollback }, checkKey, children)
  return ctxOf
}

/** Rejects an ask whose key is already used in the run: the key identifies the ask, also for early answers. */
function createKeyCheck(): (operation: ProcedureOperation) => void {
  let keys: Set<string> | null = null
  return (operation) => {
    const key = askKeyOf(operation)
    if (key !== null && keys?.has(key) === true)
      refuse(
        `key of ${'ask' in operation ? operation.ask.payload.kind : 'decide'}`,
        key,
        'Another ask of this run has that key; each needs its own.',
      )
    if (key !== null) {
      keys ??= new Set()
      keys.add(key)
    }
  }
}

/**
 * Creates a context. Every method validates its arguments and takes its position synchronously, before anything is
 * awaited: an invalid argument throws and takes no position.
 */
function createContext(
  options: ProgramOptions,
  scoped: ScopedCtx,
  checkKey: (operation: ProcedureOperation) => void,
  children: ChildCount,
): Ctx {
  const { scope, scopes, bodies, rollback } = scoped
  const issue: IssueOperation = (operation) => {
    bodies.check(scope)
    return scopes.issueIn(scope, operation)
  }
  const ask: IssueOperation = (operation) => {
    checkKey(operation)
    return issue(askOwner(operation, options.definition.owner))
  }
  return implement<Ctx>({
    runId: options.runId,
    step: (name: string, body: () => unknown, given?: object) => {
      const of = `of step '${checkName('name of step', name)}'`
      checkFunction(`body ${of}`, body)
      const { retry, timeoutMs } = readStepOptions(of, given, undefined, ['undo'])
      const undo = readUndo(of, given)
      return issue({
        kind: 'step',
        name,
        body: options.effects.step(name, body),
        ...(undo === undefined ? { read: readValue } : readAndRegister(options, rollback, name, undo)),
        retry,
        timeoutMs,
      })
    },
    onRollback: (name: string, undo: (call: StepCall) => unknown) => {
      checkFunction(`undo of onRollback '${checkName('name of onRollback', name)}'`, undo)
      bodies.check(scope)
      ownTurn(options, 'onRollback')
      rollback.register(name, undoOperation(options, name, undo))
    },
    rollback: (reason: unknown) => {
      const text = checkText('reason of rollback', reason)
      bodies.check(scope)
      ownTurn(options, 'rollback')
      return rollback.run(text)
    },
    sleep: (time: unknown) => issue(sleepFor(time)),
    sleepUntil: (instant: unknown) => issue(sleepUntil(instant)),
    receive: (name: unknown, given?: unknown) => issue(receiveOne(options.definition, name, given)),
    receiveAny: (names: unknown, given?: unknown) => issue(receiveAny(options.definition, names, given)),
    map: (items: unknown, each: unknown, given?: unknown) => map(scoped, items, each, given),
    race: (branches: unknown) => race(scoped, branches),
    shield: (body: unknown) => shield(scoped, body),
    ...createChildOps(issue, options, children),
    human: createHuman(ask, options),
    agent: createAgentOps(ask, options),
    version: (change: unknown, ...versions: readonly unknown[]) =>
      chooseVersion(options, readChange(change, versions)),
    now: () => new Date(options.execution().now()),
    random: () => ownTurn(options, 'random').random(),
    uuid: () => ownTurn(options, 'uuid').uuid(),
    log: createLog(options),
  })
}

/** Addresses an ask that names no audience to the owner of the procedure. */
function askOwner(operation: ProcedureOperation, owner: string | undefined): ProcedureOperation {
  if (owner === undefined) return operation
  if ('ask' in operation && operation.ask.to.length === 0)
    return { ...operation, ask: { ...operation.ask, to: [owner] } }
  if (!('fallback' in operation) || operation.fallback.do !== 'ask') return operation
  const { ask } = operation.fallback
  if (ask.to.length > 0) return operation
  return { ...operation, fallback: { do: 'ask', ask: { ...ask, to: [owner] } } }
}

/** Reads the result of a step and registers its undo: in the order of the log, live as in a replay. */
function readAndRegister(
  options: ProgramOptions,
  rollback: Rollback,
  name: string,
  undo: Undo,
): Pick<ProcedureOperation, 'read' | 'readLate'> {
  const undone = (event: LogEvent): ProcedureOperation =>
    undoOperation(options, name, (call) => undo(readValue(event), call))
  return {
    read: (event) => {
      const result = readValue(event)
      rollback.register(name, undone(event))
      return result
    },
    readLate: (event) => rollback.add(name, undone(event)),
  }
}

function undoOperation(
  { effects }: ProgramOptions,
  name: string,
  body: (call: StepCall) => unknown,
): ProcedureOperation {
  return {
    ...{ kind: 'undo', name, read: readValue },
    ...defaultPolicy,
    body: effects.step(`undo ${name}`, body),
  }
}

/** Checks that the run has the turn. Random values are drawn in call order, so a call from outside would shift all others. */
function ownTurn(
  { execution, runId }: ProgramOptions,
  method: string,
): ReturnType<ProgramOptions['execution']> {
  const owner = execution()
  if (owner.hasTurn) return owner
  const what = `ctx.${method}() was called`
  owner.foreign(what)
  throw new PawlError('foreign-await', {
    run: runId,
    after: `ctx.${method}()`,
    what: `${what} outside the procedure`,
  })
}

/** Returns the branch of the run. A branch that the code no longer offers stops the run, even if the error is caught. */
function chooseVersion(options: ProgramOptions, { name, offered }: Change): number {
  const execution = ownTurn(options, 'version')
  const recorded = options.chooseBranch(name, offered)
  if (offered.includes(recorded)) return recorded
  const error = new PawlError('version-gone', { run: options.runId, change: name, recorded, offered })
  execution.stop(error)
  throw error
}

function createLog({ logger, isReplaying, runId }: ProgramOptions): Logger {
  const at = (level: keyof Logger) => (message: string, fields?: object) => {
    if (!isReplaying()) logger[level](message, { run: runId, ...fields })
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
