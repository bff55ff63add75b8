import { implement } from '../base/implement.ts'
import { PawlError } from '../errors/pawl-error.ts'
import type { Program } from '../kernel/operation.ts'
import type { Effects } from '../ports/effects.ts'
import type { Logger } from '../ports/logger.ts'
import type { AgentDefinition } from './agent.ts'
import { createAgentOps } from './agent-context.ts'
import { readDue } from './ask-options.ts'
import type { Ctx } from './ctx.ts'
import { parseDuration } from './duration.ts'
import { createHuman } from './human-context.ts'
import { askKeyOf, type IssueOperation, type ProcedureOperation } from './operations.ts'
import {
  checkArray,
  checkFunction,
  checkInstant,
  checkKeys,
  checkName,
  checkObject,
  refuse,
} from './options.ts'
import type { ProcedureDefinition } from './procedure.ts'
import type { Remark } from './remark.ts'
import { readAnySignal, readNothing, readSignal, readValue } from './results.ts'
import { readStepOptions } from './step-options.ts'

/** What a procedure's context needs of the run it belongs to. */
export interface ProgramOptions {
  readonly definition: ProcedureDefinition
  /** The input, made afresh. */
  readonly input: () => unknown
  readonly runId: string
  /** The execution that runs the program. */
  readonly execution: () => {
    now(): number
    random(): number
    uuid(): string
    readonly hasTurn: boolean
    foreign(what: string): void
  }
  /** While replaying `ctx.log` is silent. */
  readonly isReplaying: () => boolean
  readonly logger: Logger
  readonly effects: Effects
  /** Who judges when `decide` names nobody. */
  readonly decider: AgentDefinition | undefined
  /** Whom `onTimeout: 'escalate'` escalates to. */
  readonly escalateTo: string | undefined
  /** Warns of what is legal and hardly meant, once for each `about` of a procedure. */
  readonly remark: Remark
}

/** The kernel's program of a procedure: its body, with a context built on top of `issue`. */
export function createProgram(options: ProgramOptions): Program<ProcedureOperation> {
  return (issue) => options.definition.body(createContext(options, issue), options.input())
}

/**
 * Issues questions, each under a key of its own: by its key a question is found, and may be answered before it
 * is asked.
 */
function checkKeysOf(issue: IssueOperation): IssueOperation {
  const keys = new Set<string>()
  return (operation) => {
    const key = askKeyOf(operation)
    if (key !== null && keys.has(key))
      refuse(
        `key of ${'ask' in operation ? operation.ask.payload.kind : 'decide'}`,
        key,
        'Another question of this run has that key; each needs its own.',
      )
    if (key !== null) keys.add(key)
    return issue(operation)
  }
}

/**
 * Every method validates and takes its position in the caller's own call, before anything is awaited: a
 * refused argument throws and takes none.
 */
function createContext(options: ProgramOptions, issue: IssueOperation): Ctx {
  const ask = checkKeysOf(issue)
  return implement<Ctx>({
    runId: options.runId,
    step: (name: string, body: () => unknown, given?: object) => {
      const of = `of step '${checkName('name of step', name)}'`
      checkFunction(`body ${of}`, body)
      const { retry, timeoutMs } = readStepOptions(of, given)
      return issue({
        kind: 'step',
        name,
        body: options.effects.step(name, body),
        read: readValue,
        retry,
        timeoutMs,
      })
    },
    sleep: (time: unknown) =>
      issue({
        kind: 'timer',
        name: 'sleep',
        due: { afterMs: parseDuration(time, 'time of sleep') },
        read: readNothing,
      }),
    sleepUntil: (instant: unknown) =>
      issue({
        kind: 'timer',
        name: 'sleep',
        due: { atMs: checkInstant('instant of sleepUntil', instant).getTime() },
        read: readNothing,
      }),
    receive: (name: unknown, given?: unknown) => {
      const signal = checkSignal(options.definition, 'receive', name)
      return issue({
        kind: 'signal',
        name: signal,
        names: [signal],
        due: readTimeout('receive', given),
        read: readSignal,
      })
    },
    receiveAny: (given: unknown, timeout?: unknown) => {
      const names = checkArray('names of receiveAny', given).map((name) =>
        checkSignal(options.definition, 'receiveAny', name),
      )
      if (names.length === 0) refuse('names of receiveAny', given, 'Name at least one signal.')
      return issue({
        kind: 'signal',
        name: names.join(' | '),
        names,
        due: readTimeout('receiveAny', timeout),
        read: readAnySignal,
      })
    },
    human: createHuman(ask, options),
    agent: createAgentOps(ask, options),
    now: () => new Date(options.execution().now()),
    random: () => ownTurn(options, 'random').random(),
    uuid: () => ownTurn(options, 'uuid').uuid(),
    log: createLog(options),
  })
}

function checkSignal({ name: procedure, signals }: ProcedureDefinition, of: string, name: unknown): string {
  if (typeof name === 'string' && signals.has(name)) return name
  const declared = signals.size === 0 ? 'it declares none' : `it declares ${[...signals.keys()].join(', ')}`
  return refuse(`name of ${of}`, name, `It must be a signal of procedure '${procedure}': ${declared}.`)
}

function readTimeout(of: string, given: unknown): ReturnType<typeof readDue> {
  const options = checkObject(`options of ${of}`, given)
  checkKeys(`the options of ${of}`, options, ['timeout'])
  return readDue(`timeout of ${of}`, options['timeout'])
}

/** Chance is drawn in the order of the calls, so that a call from elsewhere would shift what all others get. */
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

function createLog({ logger, isReplaying, runId }: ProgramOptions): Logger {
  const at = (level: keyof Logger) => (message: string, fields?: object) => {
    if (!isReplaying()) logger[level](message, { run: runId, ...fields })
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
