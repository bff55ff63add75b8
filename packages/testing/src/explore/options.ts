import type { Refused } from '@pawl/core'
import {
  checkArray,
  checkObject,
  checkOneOf,
  checkWhole,
  findNearest,
  type ProcedureDefinition,
  refuse,
} from '@pawl/core/internal'
import { checkBoolean, checkKeys } from '@pawl/core/storage'
import type { Doubles } from '../doubles.ts'

/** A step that must not happen without a person's consent. */
export interface Rule {
  /** Name of the step, or a pattern that it matches. */
  readonly step: string | RegExp
  /**
   * The consent that permits it: 'approved' is a yes of a person to any question, `{ ask }` a yes to the question with this
   * key, or with a message like this. A yes permits one step of each name; a later no to the question takes it back.
   */
  readonly unless: 'approved' | { readonly ask: string | RegExp }
}

/**
 * A rule that holds without being named. 'unread-answer': a question is answered, and no code awaits the answer.
 * 'act-beside-question': a step, a child or a message follows such a question.
 */
export type DefaultRule = (typeof defaultRules)[number]

export const defaultRules = ['unread-answer', 'act-beside-question'] as const

/** The options of `explore`. */
export interface ExploreOptions extends Doubles {
  /** What must not happen without consent. Default: none. */
  readonly never?: readonly Rule[]
  /**
   * Rules that do not hold. By default, no question may be asked whose answer nothing awaits: 'unread-answer' finds that it is
   * answered, 'act-beside-question' the steps, children and messages that follow it. Default: none.
   */
  readonly ignore?: readonly DefaultRule[]
  /** Payloads to try, by signal. Default: the signal never comes. */
  readonly signals?: { readonly [name: string]: readonly unknown[] }
  /** Values to try, by key or message of `human.input`. Default: its `initial`. */
  readonly inputs?: { readonly [ask: string]: readonly unknown[] }
  /** Names of steps, agents and undos that may fail. Default: none. */
  readonly failures?: readonly string[]
  /** Whether the run is also cancelled at every operation. Default: false. */
  readonly cancel?: boolean
  /** Maximum number of paths. Default: 10,000. Range: whole numbers from 1. */
  readonly maxPaths?: number
  /** Maximum number of operations of a path, which is cut there. Default: 200. Range: whole numbers from 1. */
  readonly maxOps?: number
  readonly humans?: Refused<'explore tries every outcome of every question: leave humans out'>
}

/** The options, checked and with defaults. */
export interface ExploreSettings {
  readonly never: readonly Rule[]
  readonly ignore: ReadonlySet<DefaultRule>
  readonly signals: ReadonlyMap<string, readonly unknown[]>
  readonly inputs: ReadonlyMap<string, readonly unknown[]>
  readonly failures: ReadonlySet<string>
  readonly cancel: boolean
  readonly maxPaths: number
  readonly maxOps: number
  readonly doubles: Doubles
}

const names = [
  ...[
    'steps',
    'agents',
    'strict',
    'never',
    'ignore',
    'signals',
    'inputs',
    'failures',
    'cancel',
    'maxPaths',
    'maxOps',
  ],
]

/** @throws PawlError 'option-invalid' */
export function readExploreOptions(definition: ProcedureDefinition, given: unknown): ExploreSettings {
  const options: ExploreOptions = checkObject('options of explore', given)
  if (options.humans !== undefined)
    refuse(
      'humans of explore',
      options.humans,
      'Leave it out: explore tries every outcome of every question.',
    )
  checkKeys('the options of explore', options, names)
  const {
    never = [],
    ignore = [],
    failures = [],
    cancel = false,
    strict = false,
    maxPaths = 10_000,
    maxOps = 200,
  } = options
  checkObject('steps of explore', options.steps)
  checkObject('agents of explore', options.agents)
  checkArray('never of explore', never)
  for (const [at, rule] of never.entries()) checkRule(`never[${at}] of explore`, rule)
  checkArray('ignore of explore', ignore)
  for (const [at, rule] of ignore.entries()) checkOneOf(`ignore[${at}] of explore`, rule, defaultRules)
  checkArray('failures of explore', failures)
  for (const [at, name] of failures.entries())
    if (typeof name !== 'string') refuse(`failures[${at}] of explore`, name, 'It must be the name of a step.')
  return {
    never,
    ignore: new Set(ignore),
    signals: readSignals(definition, options.signals),
    inputs: readLists('inputs of explore', options.inputs),
    failures: new Set(failures),
    cancel: checkBoolean('cancel of explore', cancel),
    maxPaths: checkWhole('maxPaths of explore', maxPaths, 1, Number.MAX_SAFE_INTEGER),
    maxOps: checkWhole('maxOps of explore', maxOps, 1, Number.MAX_SAFE_INTEGER),
    doubles: {
      ...(options.steps === undefined ? {} : { steps: options.steps }),
      ...(options.agents === undefined ? {} : { agents: options.agents }),
      strict: checkBoolean('strict of explore', strict),
    },
  }
}

function checkRule(of: string, given: unknown): void {
  const { step, unless } = checkObject(of, given)
  checkKeys(of, given as object, ['step', 'unless'])
  if (!isPattern(step)) refuse(`step of ${of}`, step, 'It must be the name of a step, or a pattern.')
  if (unless === 'approved') return
  if (typeof unless === 'object' && unless !== null && isPattern((unless as { readonly ask?: unknown }).ask))
    return
  refuse(
    `unless of ${of}`,
    unless,
    "It must be 'approved', or { ask } with a key, a part of a message or a pattern.",
  )
}

function isPattern(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || value instanceof RegExp
}

function readSignals(
  { name: procedure, signals }: ProcedureDefinition,
  given: unknown,
): ReadonlyMap<string, readonly unknown[]> {
  const lists = readLists('signals of explore', given)
  for (const name of lists.keys()) {
    if (signals.size === 0 || signals.has(name)) continue
    const nearest = findNearest(name, [...signals.keys()])
    const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
    refuse(
      'signals of explore',
      name,
      `Procedure '${procedure}' declares ${[...signals.keys()].join(', ')}.${hint}`,
    )
  }
  return lists
}

function readLists(of: string, given: unknown): ReadonlyMap<string, readonly unknown[]> {
  return new Map(
    Object.entries(checkObject(of, given)).map(([name, values]) => [
      name,
      checkArray(`${of} '${name}'`, values),
    ]),
  )
}
