import { type AgentDefinition, agentDefinitionOf } from '../authoring/agent/agent.ts'
import { readDue } from '../authoring/human/options.ts'
import type { Due } from '../authoring/operations.ts'
import type { Policy } from '../authoring/policy/policy.ts'
import { type Bugs, checkBugs, type ProcedureDefinition } from '../authoring/procedure.ts'
import { isBuiltIn } from '../base/built-in.ts'
import type { Actor, Audience } from '../base/people.ts'
import {
  checkArray,
  checkBoolean,
  checkFunction,
  checkKeys,
  checkName,
  checkObject,
  partOf,
  refuse,
} from '../checks/options.ts'
import { checkActor, checkAudience } from '../checks/people.ts'
import {
  anything,
  type KeptRow,
  milliseconds,
  oneOf,
  optional,
  readOptions,
  readPart,
  required,
  type Spec,
  whole,
} from '../checks/spec.ts'
import { defaultMaxCrashes } from '../ports/crash-loops.ts'
import { defaultLogLimits, type LogLimits } from '../ports/log-limits.ts'
import type { Logger } from '../ports/logger.ts'
import type { Observer } from '../ports/observer.ts'
import type { RetentionRule, RetentionRules } from '../ports/retention.ts'
import type { EngineOptions, Retention } from './engine-options.ts'
import { joinProcedures, readPlugins } from './plugins/checks.ts'
import type { Plugin } from './plugins/plugin.ts'
import { readProcedures } from './procedures.ts'
import type { RunOptions, RunOrGetOptions, StopOptions } from './types.ts'

/** The options of `createEngine` except the store, validated and with defaults. */
export interface EngineSettings {
  /** Those of the plug-ins as well. */
  readonly procedures: readonly ProcedureDefinition[]
  readonly plugins: readonly Plugin[]
  readonly decider: AgentDefinition | undefined
  readonly escalateTo: Audience | undefined
  readonly policy: Policy | undefined
  readonly determinism: 'virtual' | 'error' | 'off'
  readonly bugs: Bugs
  readonly maxCrashes: number
  readonly maxDescendants: number
  readonly concurrency: number
  readonly logLimits: LogLimits
  readonly retention: RetentionRules
  readonly leaseMs: number
  readonly logger: Logger | undefined
  readonly selfApproval: boolean
  readonly observer: Observer | undefined
}

const engineOptions = {
  store: optional(anything),
  procedures: required(readOwnProcedures),
  plugins: optional(readPlugins, []),
  decider: optional(readDecider, undefined),
  escalateTo: optional(checkAudience, undefined),
  policy: optional(checkFunction<Policy>, undefined),
  determinism: optional(oneOf(['virtual', 'error', 'off']), 'virtual'),
  bugs: optional(checkBugs, 'park'),
  maxCrashes: optional(whole(2), defaultMaxCrashes),
  maxDescendants: optional(whole(1, 10_000_000), 100_000),
  concurrency: optional(whole(1), 100),
  logLimits: optional(readLogLimits, defaultLogLimits),
  retention: optional(readRetention, new Map<string, RetentionRule>()),
  lease: optional(readLease, 10_000),
  logger: optional(readLogger, undefined),
  selfApproval: optional(checkBoolean, true),
  observe: optional(readObserver, undefined),
} satisfies Spec<EngineOptions>

/** Rejects unknown options of an engine; `others` are further options of the function `maker`. */
export function checkEngineKeys(maker: string, options: object, others: readonly string[] = []): void {
  checkKeys(`the options of ${maker}`, options, [...Object.keys(engineOptions), ...others])
}

/**
 * Checks the options of an engine except its store.
 * @throws PawlError 'option-invalid', 'duration-invalid', 'procedure-duplicate'
 */
export function readEngineOptions(given: unknown): EngineSettings {
  const options = readOptions('of createEngine', given, engineOptions)
  const { store: _, lease: leaseMs, observe: observer, ...others } = options
  const procedures = joinProcedures(others.procedures, others.plugins)
  return { ...others, procedures, leaseMs, observer }
}

const retentionOptions = {
  completed: optional(milliseconds, null),
  failed: optional(milliseconds, null),
  cancelled: optional(milliseconds, null),
  keep: optional(whole(0), null),
  generations: optional(milliseconds, null),
  decisions: optional(milliseconds, null),
  checkpoints: optional(milliseconds, null),
} satisfies Spec<Retention>

function readRetention(option: string, given: unknown): RetentionRules {
  const rules = Object.entries(checkObject(option, given))
  return new Map(
    rules.map(([name, rule]) => [checkName(option, name), readRule(`${option} for ${name}`, rule)]),
  )
}

function readRule(option: string, given: unknown): RetentionRule {
  const rule = readOptions(`of ${option}`, given, retentionOptions, `the ${option}`)
  return { ...rule, cancelled: rule.cancelled ?? rule.failed }
}

/** Those whose names begin with `pawl.` come from plug-ins. */
function readOwnProcedures(option: string, given: unknown): readonly ProcedureDefinition[] {
  const procedures = readProcedures(option, given)
  const reserved = procedures.find(({ name }) => isBuiltIn(name))
  if (reserved !== undefined)
    refuse(
      option,
      reserved.name,
      'Names that begin with pawl. are for the procedures of plug-ins: pass the plug-in in the option plugins.',
    )
  return procedures
}

function readDecider(option: string, given: unknown): AgentDefinition {
  return agentDefinitionOf(given) ?? refuse(option, given, 'It must be created by decider() or agent().')
}

const logLimitOptions = {
  warn: optional(whole(1), defaultLogLimits.warn),
  full: optional(whole(1), defaultLogLimits.full),
} satisfies Spec<LogLimits>

function readLogLimits(option: string, given: unknown): LogLimits {
  return readPart(option, given, logLimitOptions, `the ${option}`)
}

function readLease(option: string, given: unknown): number {
  const leaseMs = milliseconds(option, given)
  if (leaseMs < 1_000) refuse(option, given, "It must be at least '1s'.")
  return leaseMs
}

function readLogger(option: string, given: unknown): Logger {
  const allowed = 'A logger must have the functions debug, info, warn and error.'
  checkMethods(option, given, ['debug', 'info', 'warn', 'error'], allowed)
  return given as Logger
}

const observerMethods: readonly (keyof Observer)[] = [
  ...(['called', 'attempted', 'created', 'closed', 'ended', 'committed', 'attached'] as const),
]

/** @throws PawlError 'option-invalid' */
export function readObserver(option: string, given: unknown): Observer {
  checkMethods(option, given, observerMethods, 'Pass an observer, such as `otel()` of @pawl/otel.')
  return given as Observer
}

function checkMethods(option: string, given: unknown, methods: readonly string[], allowed: string): void {
  const object = checkObject(option, given)
  for (const method of methods)
    if (typeof object[method] !== 'function') refuse(partOf(option, method), object[method], allowed)
}

const runOptions = {
  id: optional(checkName, undefined),
  by: optional(checkActor, undefined),
  tags: optional(readTags, []),
  timeout: optional(readDue, null),
} satisfies Spec<RunOptions>

/** The options of a started run. */
export interface RunSettings {
  readonly id: string | undefined
  readonly by: Actor | undefined
  readonly tags: readonly string[]
  /** When the run cancels itself; null: never. */
  readonly timeout: Due | null
}

/** @throws PawlError 'option-invalid' */
export function readRunOptions(given: unknown): RunSettings {
  return readOptions('of run', given, runOptions)
}

const runOrGetOptions = {
  ...runOptions,
  ifEnded: optional((_, given) => oneOf(['get', 'again'])('ifEnded of runOrGet', given), 'get'),
} satisfies Spec<RunOrGetOptions>

/** Returns what `runOrGet` does with a run that has ended. @throws PawlError 'option-invalid' */
export function readRunOrGetOptions(given: unknown): {
  readonly settings: RunSettings
  readonly ifEnded: 'get' | 'again'
} {
  const label = 'the options of runOrGet'
  const { ifEnded, ...settings } = readOptions('of run', given, runOrGetOptions, label)
  return { settings, ifEnded }
}

function readTags(option: string, given: unknown): readonly string[] {
  return [...new Set(checkArray(option, given).map((tag) => checkName(option, tag)))]
}

const stopOptions = { within: optional(milliseconds, 10_000) } satisfies Spec<StopOptions>

/** Returns how long a stop waits for running work, in ms. */
export function readStopOptions(given: unknown): number {
  return readOptions('of stop', given, stopOptions).within
}

/** The maximum number of rows of a page. */
export const pageLimit: KeptRow<number, number> = optional(whole(1, 500), 50)
