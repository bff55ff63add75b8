import { type AgentDefinition, agentDefinitionOf } from '../authoring/agent/agent.ts'
import { readDue } from '../authoring/human/options.ts'
import type { Due } from '../authoring/operations.ts'
import type { Policy } from '../authoring/policy/policy.ts'
import {
  type Bugs,
  checkMessages,
  definitionOf,
  type ProcedureDefinition,
  readBugs,
} from '../authoring/procedure.ts'
import type { Actor, Audience } from '../base/people.ts'
import { parseDuration } from '../checks/duration.ts'
import {
  checkArray,
  checkBoolean,
  checkFunction,
  checkKeys,
  checkName,
  checkObject,
  checkOneOf,
  checkWhole,
  refuse,
} from '../checks/options.ts'
import { checkActor, checkAudience } from '../checks/people.ts'
import { PawlError } from '../errors/pawl-error.ts'
import { defaultMaxCrashes } from '../ports/crash-loops.ts'
import { defaultLogLimits, type LogLimits } from '../ports/log-limits.ts'
import type { Logger } from '../ports/logger.ts'
import type { Observer } from '../ports/observer.ts'
import type { RetentionRule, RetentionRules } from '../ports/retention.ts'
import type { ChannelSettings } from './channels/channels.ts'
import { readChannels, readLinkOptions } from './channels/checks.ts'

/** The options of `createEngine` except the store, validated and with defaults. */
export interface EngineSettings {
  readonly procedures: readonly ProcedureDefinition[]
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
  readonly channels: ChannelSettings
  readonly observer: Observer | undefined
}

const channelOptionNames = ['channels', 'links', 'selfApproval']

const engineOptionNames = [
  'store',
  'procedures',
  'decider',
  'escalateTo',
  'policy',
  'determinism',
  'bugs',
  'maxCrashes',
  'maxDescendants',
  'concurrency',
  'logLimits',
  'retention',
  'lease',
  'logger',
  ...channelOptionNames,
  'observe',
]

/** Rejects unknown options of an engine; `others` are further options of the function `maker`. */
export function checkEngineKeys(maker: string, options: object, others: readonly string[] = []): void {
  checkKeys(`the options of ${maker}`, options, [...engineOptionNames, ...others])
}

/**
 * Checks the options of an engine except its store.
 * @throws PawlError 'option-invalid', 'duration-invalid', 'procedure-duplicate'
 */
export function readEngineOptions(given: unknown): EngineSettings {
  const options = checkObject('options of createEngine', given)
  checkEngineKeys('createEngine', options)
  const { decider, escalateTo, policy, determinism, bugs, maxCrashes, concurrency, lease, logger } = options
  return {
    procedures: readProcedures(options['procedures']),
    decider: decider === undefined ? undefined : readDecider(decider),
    escalateTo:
      escalateTo === undefined ? undefined : checkAudience('escalateTo of createEngine', escalateTo),
    policy: policy === undefined ? undefined : readPolicy(policy),
    determinism:
      determinism === undefined
        ? 'virtual'
        : checkOneOf('determinism of createEngine', determinism, ['virtual', 'error', 'off']),
    bugs: bugs === undefined ? 'park' : readBugs('of createEngine', bugs),
    maxCrashes:
      maxCrashes === undefined
        ? defaultMaxCrashes
        : checkWhole('maxCrashes of createEngine', maxCrashes, 2, Number.MAX_SAFE_INTEGER),
    maxDescendants: readMaxDescendants(options['maxDescendants']),
    concurrency:
      concurrency === undefined
        ? 100
        : checkWhole('concurrency of createEngine', concurrency, 1, Number.MAX_SAFE_INTEGER),
    logLimits: readLogLimits(options['logLimits']),
    retention: readRetention(options['retention']),
    leaseMs: lease === undefined ? 10_000 : readLease(lease),
    logger: logger === undefined ? undefined : readLogger(logger),
    channels: readChannelSettings(options),
    observer: readObserver('createEngine', options['observe']),
  }
}

function readMaxDescendants(given: unknown): number {
  if (given === undefined) return 100_000
  return checkWhole('maxDescendants of createEngine', given, 1, 10_000_000)
}

function readChannelSettings({
  channels,
  links,
  selfApproval,
}: {
  readonly [name: string]: unknown
}): ChannelSettings {
  return {
    channels: readChannels(channels),
    links: readLinkOptions(links),
    selfApproval:
      selfApproval === undefined ? true : checkBoolean('selfApproval of createEngine', selfApproval),
  }
}

function readRetention(given: unknown): RetentionRules {
  const option = 'retention of createEngine'
  const rules = Object.entries(checkObject(option, given))
  return new Map(
    rules.map(([name, rule]) => [checkName(option, name), readRule(`${option} for ${name}`, rule)]),
  )
}

function readRule(option: string, given: unknown): RetentionRule {
  const rule = checkObject(option, given)
  checkKeys(`the ${option}`, rule, [
    ...['completed', 'failed', 'cancelled', 'keep', 'generations', 'decisions', 'checkpoints'],
  ])
  const read = (name: string): number | null =>
    rule[name] === undefined ? null : parseDuration(rule[name], `${name} of ${option}`)
  const { keep } = rule
  return {
    ...{ completed: read('completed'), failed: read('failed') },
    ...{ cancelled: read('cancelled') ?? read('failed'), decisions: read('decisions') },
    checkpoints: read('checkpoints'),
    generations: read('generations'),
    keep: keep === undefined ? null : checkWhole(`keep of ${option}`, keep, 0, Number.MAX_SAFE_INTEGER),
  }
}

function readProcedures(given: unknown): readonly ProcedureDefinition[] {
  const option = 'procedures of createEngine'
  const definitions = checkArray(option, given).map(
    (one) =>
      definitionOf(one) ??
      refuse(option, one, 'Each must be created by procedure(); a ref has no code to run.'),
  )
  const seen = new Set<string>()
  for (const definition of definitions) {
    const { name, version } = definition
    const identity = JSON.stringify([name, version])
    if (seen.has(identity)) throw new PawlError('procedure-duplicate', { procedure: name })
    seen.add(identity)
    checkMessages(definition)
  }
  return definitions
}

function readDecider(given: unknown): AgentDefinition {
  return (
    agentDefinitionOf(given) ??
    refuse('decider of createEngine', given, 'It must be created by decider() or agent().')
  )
}

function readPolicy(given: unknown): Policy {
  checkFunction('policy of createEngine', given)
  return given as Policy
}

function readLogLimits(given: unknown): LogLimits {
  const limits = checkObject('logLimits of createEngine', given)
  checkKeys('the logLimits of createEngine', limits, ['warn', 'full'])
  const { warn, full } = limits
  const most = Number.MAX_SAFE_INTEGER
  return {
    warn:
      warn === undefined
        ? defaultLogLimits.warn
        : checkWhole('logLimits.warn of createEngine', warn, 1, most),
    full:
      full === undefined
        ? defaultLogLimits.full
        : checkWhole('logLimits.full of createEngine', full, 1, most),
  }
}

function readLease(given: unknown): number {
  const leaseMs = parseDuration(given, 'lease of createEngine')
  if (leaseMs < 1_000) refuse('lease of createEngine', given, "It must be at least '1s'.")
  return leaseMs
}

function readLogger(given: unknown): Logger {
  const logger = checkObject('logger of createEngine', given)
  for (const level of ['debug', 'info', 'warn', 'error'])
    if (typeof logger[level] !== 'function')
      refuse(
        `logger.${level} of createEngine`,
        logger[level],
        'A logger must have the functions debug, info, warn and error.',
      )
  return given as Logger
}

const observerMethods: readonly (keyof Observer)[] = [
  ...(['called', 'attempted', 'created', 'closed', 'ended', 'committed', 'attached'] as const),
]

/** @throws PawlError 'option-invalid' */
export function readObserver(maker: string, given: unknown): Observer | undefined {
  if (given === undefined) return undefined
  const observer = checkObject(`observe of ${maker}`, given)
  for (const method of observerMethods)
    if (typeof observer[method] !== 'function')
      refuse(
        `observe.${method} of ${maker}`,
        observer[method],
        'Pass an observer, such as `otel()` of @pawl/otel.',
      )
  return given as Observer
}

/** The options of a started run. */
export interface RunSettings {
  readonly id: string | undefined
  readonly by: Actor | undefined
  readonly tags: readonly string[]
  /** When the run cancels itself; null: never. */
  readonly timeout: Due | null
}

/** @throws PawlError 'option-invalid' */
export function readRunOptions(given: unknown, of = 'run', others: readonly string[] = []): RunSettings {
  const options = checkObject(`options of ${of}`, given)
  checkKeys(`the options of ${of}`, options, ['id', 'by', 'tags', 'timeout', ...others])
  const { id, by, tags, timeout } = options
  return {
    id: id === undefined ? undefined : checkName('id of run', id),
    by: by === undefined ? undefined : checkActor('by of run', by),
    tags:
      tags === undefined
        ? []
        : [...new Set(checkArray('tags of run', tags).map((tag) => checkName('tags of run', tag)))],
    timeout: readDue('timeout of run', timeout),
  }
}

/** Returns what `runOrGet` does with a run that has ended. @throws PawlError 'option-invalid' */
export function readRunOrGetOptions(given: unknown): {
  readonly settings: RunSettings
  readonly ifEnded: 'get' | 'again'
} {
  const { ifEnded } = checkObject('options of runOrGet', given)
  return {
    settings: readRunOptions(given, 'runOrGet', ['ifEnded']),
    ifEnded: ifEnded === undefined ? 'get' : checkOneOf('ifEnded of runOrGet', ifEnded, ['get', 'again']),
  }
}

/** Returns how long a stop waits for running work, in ms. */
export function readStopOptions(given: unknown): number {
  const options = checkObject('options of stop', given)
  checkKeys('the options of stop', options, ['within'])
  const { within } = options
  return within === undefined ? 10_000 : parseDuration(within, 'within of stop')
}

/** Returns the page size. Default: 50. Range: 1 to 500. */
export function readLimit(of: string, given: unknown): number {
  return given === undefined ? 50 : checkWhole(`limit ${of}`, given, 1, 500)
}
