import { implement } from '../base/implement.ts'
import { checkFunction, checkName, checkText, refuse } from '../checks/options.ts'
import { PawlError } from '../errors/pawl-error.ts'
import type { Program, Scopes } from '../kernel/operation.ts'
import type { Scope } from '../kernel/scope.ts'
import type { Logger } from '../ports/logger.ts'
import { createAgentOps } from './agent/context.ts'
import { type ChildCount, createChildOps } from './children/context.ts'
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
  const actions: GateParts['actions'] = { names: null }
  const handled = new Set<string>()
  const ctxOf = (scope: Scope): Ctx =>
    createContext(options, { scope, scopes, bodies, ctxOf, rollback }, checkKey, children, actions, handled)
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
  actions: GateParts['actions'],
  handled: Set<string>,
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
  const parts: GateParts = { options, issue, ask, rollback, actions }
  return implement<Ctx>({
    runId: options.runId,
    step: (name: string, body: () => unknown, given?: object) => step(parts, name, body, given),
    plan: (tasks: unknown, given: unknown) => plan(parts, tasks, given),
    gate: (name: unknown, given: unknown) => gate(parts, name, given),
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
    continueAs: async (input?: unknown) => {
      bodies.check(scope)
      ownTurn(options, 'continueAs')
      const refusal = scopes.refusalOf(scope)
      return (refusal === null ? options.requests.make(input) : rejectClosed(refusal)) as never
    },
    sleep: (time: unknown) => issue(sleepFor(time)),
    sleepUntil: (instant: unknown) => issue(sleepUntil(instant)),
    receive: (name: unknown, given?: unknown) => issue(receiveOne(options.definition, name, given)),
    receiveAny: (names: unknown, given?: unknown) => issue(receiveAny(options.definition, names, given)),
    map: (items: unknown, each: unknown, given?: unknown) => map(scoped, items, each, given),
    race: (branches: unknown) => race(scoped, branches),
    shield: (body: unknown) => shield(scoped, body),
    expose: (name: unknown, value: unknown) => {
      const payload = encodeState(options.definition, name, value)
      bodies.check(scope)
      ownTurn(options, 'expose')
      options.exposed.expose(name as string, payload)
    },
    progress: (given: unknown) => {
      const progress = readProgress(given)
      bodies.check(scope)
      ownTurn(options, 'progress')
      options.exposed.progress(progress)
    },
    on: (name: unknown, handler: unknown) => {
      bodies.check(scope)
      ownTurn(options, 'on')
      handleUpdates(issue, options.definition, handled, name, handler)
    },
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
