import { createLazily } from '../base/lazy.ts'
import { checkFunction, checkName, checkShown, refuse } from '../checks/options.ts'
import { PawlError } from '../errors/pawl-error.ts'
import type { Program, Scopes } from '../kernel/operation.ts'
import type { Scope } from '../kernel/scope.ts'
import type { Logger } from '../ports/logger.ts'
import { createAgentOps } from './agent/context.ts'
import { checkpoint } from './checkpoint/checkpoint.ts'
import { type ChildNotes, childOps } from './children/context.ts'
import type { Ctx } from './ctx.ts'
import { encodeState, readProgress } from './exposed/exposed.ts'
import { type GateParts, gate } from './gate/context.ts'
import { rejectClosed } from './generations/continue-as.ts'
import { createHuman } from './human/context.ts'
import { askKeyOf, type IssueOperation, type ProcedureOperation } from './operations.ts'
import { plan } from './plan/context.ts'
import type { ProgramOptions } from './program-options.ts'
import { Rollback } from './rollback/rollback.ts'
import { map } from './scopes/map.ts'
import { race } from './scopes/race.ts'
import { Bodies, type Scoped } from './scopes/scoped.ts'
import { shield } from './scopes/shield.ts'
import { receiveAny, receiveOne } from './signal/signal.ts'
import { step, undoOperation } from './step/context.ts'
import type { StepCall } from './step/step.ts'
import { sleepFor, sleepUntil } from './timer/timer.ts'
import { handleUpdates } from './update/update.ts'
import { type Change, readChange } from './version/version.ts'

/** Creates the kernel's program of a procedure: its body, with a context on top of the root scope. */
export function createProgram(options: ProgramOptions): Program<ProcedureOperation> {
  return (_issue, scopes) => runProgram(options, scopes)
}

/** From its second branch on, `ctx.rollback` waits for steps that are at work. A log of before has no mark of it. */
const rollbackChange = 'pawl.rollback'

/** Calls the body of a procedure. */
export function runProgram(options: ProgramOptions, scopes: Scopes<ProcedureOperation>): Promise<unknown> {
  const run = new RunParts(options, scopes)
  return run.rollback.guard(options.definition.body(run.ctxOf(scopes.root), options.input()))
}

/** What the contexts of a run have in common. */
class RunParts {
  readonly options: ProgramOptions
  readonly scopes: Scopes<ProcedureOperation>
  readonly rollback: Rollback
  readonly bodies: Bodies = new Bodies()
  readonly children: ChildNotes = { spawned: 0, readCalled: null }
  readonly actions: GateParts['actions'] = { names: null, plans: 0 }
  /** The names of the updates that have a handler. Null while there are none. */
  #handled: Set<string> | null = null
  /** The keys of its asks. Null while there are none. */
  #keys: Set<string> | null = null

  constructor(options: ProgramOptions, scopes: Scopes<ProcedureOperation>) {
    this.options = options
    this.scopes = scopes
    this.rollback = new Rollback(scopes, options)
  }

  readonly ctxOf = (scope: Scope): Ctx => createCtx(new CtxParts(this, scope))

  get handled(): Set<string> {
    this.#handled ??= new Set()
    return this.#handled
  }

  /** Rejects an ask whose key is already used in the run: the key identifies the ask, also for early answers. */
  checkKey(operation: ProcedureOperation): void {
    const key = askKeyOf(operation)
    if (key === null) return
    this.#keys ??= new Set()
    if (this.#keys.has(key))
      refuse(
        `key of ${'ask' in operation ? operation.ask.payload.kind : 'decide'}`,
        key,
        'Another ask of this run has that key; each needs its own.',
      )
    this.#keys.add(key)
  }
}

/** The parts of a context. */
class CtxParts implements GateParts, Scoped<Ctx> {
  readonly run: RunParts
  readonly scope: Scope

  constructor(run: RunParts, scope: Scope) {
    this.run = run
    this.scope = scope
  }

  get options(): ProgramOptions {
    return this.run.options
  }
  get scopes(): Scopes<ProcedureOperation> {
    return this.run.scopes
  }
  get rollback(): Rollback {
    return this.run.rollback
  }
  get bodies(): Bodies {
    return this.run.bodies
  }
  get children(): ChildNotes {
    return this.run.children
  }
  get actions(): GateParts['actions'] {
    return this.run.actions
  }

  get ctxOf(): (scope: Scope) => Ctx {
    return this.run.ctxOf
  }

  readonly issue: IssueOperation = (operation) => {
    this.bodies.check(this.scope)
    return this.scopes.issueIn(this.scope, operation)
  }

  readonly ask: IssueOperation = (operation) => {
    this.run.checkKey(operation)
    return this.issue(askOwner(operation, this.options.definition.owner))
  }

  /** Checks that a method of this context may be called that issues no operation. */
  enter(method: string): void {
    this.bodies.check(this.scope)
    ownTurn(this.options, method)
  }
}

/**
 * Creates a context. Every method validates its arguments and takes its position synchronously, before anything is
 * awaited: an invalid argument throws and takes no position.
 */
const createCtx = createLazily<Ctx, CtxParts>({
  runId: ({ options }) => options.runId,
  step: (parts) => (name: string, body: () => unknown, given?: object) => step(parts, name, body, given),
  plan: (parts) => (tasks: unknown, given: unknown) => plan(parts, tasks, given),
  gate: (parts) => (name: unknown, given: unknown) => gate(parts, name, given),
  onRollback: (parts) => (name: string, undo: (call: StepCall) => unknown) => {
    checkFunction(`undo of onRollback '${checkName('name of onRollback', name)}'`, undo)
    parts.enter('onRollback')
    parts.rollback.register(name, undoOperation(parts.options, name, undo))
  },
  rollback: (parts) => (reason: unknown) => {
    const text = checkShown('reason of rollback', reason)
    parts.enter('rollback')
    return parts.rollback.runAll(text, () => parts.options.chooseBranch(rollbackChange, [1, 2]) === 2)
  },
  continueAs: (parts) => async (input?: unknown) => {
    parts.enter('continueAs')
    const refusal = parts.scopes.refusalOf(parts.scope)
    return (refusal === null ? parts.options.requests.make(input) : rejectClosed(refusal)) as never
  },
  sleep: (parts) => (time: unknown) => parts.issue(sleepFor(time)),
  sleepUntil: (parts) => (instant: unknown) => parts.issue(sleepUntil(instant)),
  receive: (parts) => (name: unknown, given?: unknown) =>
    parts.issue(receiveOne(parts.options.definition, name, given)),
  receiveAny: (parts) => (names: unknown, given?: unknown) =>
    parts.issue(receiveAny(parts.options.definition, names, given)),
  map: (parts) => (items: unknown, each: unknown, given?: unknown) => map(parts, items, each, given),
  checkpoint: (parts) => (name: unknown, state?: unknown) => parts.issue(checkpoint(name, state)),
  race: (parts) => (branches: unknown) => race(parts, branches),
  shield: (parts) => (body: unknown) => shield(parts, body),
  expose: (parts) => (name: unknown, value: unknown) => {
    const payload = encodeState(parts.options.definition, name, value)
    parts.enter('expose')
    parts.options.exposed.expose(name as string, payload)
  },
  progress: (parts) => (given: unknown) => {
    const progress = readProgress(given)
    parts.enter('progress')
    parts.options.exposed.progress(progress)
  },
  on: (parts) => (name: unknown, handler: unknown) => {
    parts.enter('on')
    const { definition, begunUpdates: begun } = parts.options
    handleUpdates({ issue: parts.issue, definition, handled: parts.run.handled, begun }, name, handler)
  },
  ...childOps,
  human: ({ ask, options }) => createHuman(ask, options),
  agent: ({ ask, options }) => createAgentOps(ask, options),
  version:
    (parts) =>
    (change: unknown, ...versions: readonly unknown[]) =>
      chooseVersion(parts.options, readChange(change, versions)),
  now: (parts) => () => new Date(parts.options.execution.now()),
  random: (parts) => () => ownTurn(parts.options, 'random').random(),
  uuid: (parts) => () => ownTurn(parts.options, 'uuid').uuid(),
  log: ({ options }) => createLog(options),
})

/** Addresses an ask that names no audience to the owner of the procedure. */
function askOwner(operation: ProcedureOperation, owner: string | undefined): ProcedureOperation {
  if (owner === undefined) return operation
  if ('notice' in operation && operation.notice.to.length === 0)
    return { ...operation, notice: { ...operation.notice, to: [owner] } }
  if ('ask' in operation && operation.ask.to.length === 0)
    return { ...operation, ask: { ...operation.ask, to: [owner] } }
  if (!('fallback' in operation) || operation.fallback.do !== 'ask') return operation
  const { ask } = operation.fallback
  if (ask.to.length > 0) return operation
  return { ...operation, fallback: { do: 'ask', ask: { ...ask, to: [owner] } } }
}

/** Checks that the run has the turn. Random values are drawn in call order, so a call from outside would shift all others. */
function ownTurn({ execution: owner, runId }: ProgramOptions, method: string): ProgramOptions['execution'] {
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

function createLog(options: ProgramOptions): Logger {
  const at = (level: keyof Logger) => (message: string, fields?: object) => {
    if (!options.isReplaying) options.logger[level](message, { run: options.runId, ...fields })
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
