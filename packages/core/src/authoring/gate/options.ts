import type { PolicyVerdict } from '../../base/words.ts'
import { checkFunction, checkName, checkObject, refuse } from '../../checks/options.ts'
import { anything, milliseconds, optional, readOptions, required, type Spec } from '../../checks/spec.ts'
import { decode, encode } from '../../events/payload.ts'
import type { DecideOperation } from '../operations.ts'
import { attemptOptions, policyOf, type StepPolicy, type Undo } from '../step/options.ts'
import { checkClasses, maxActionName } from '../step/policy-step.ts'
import type { StepCall } from '../step/step.ts'
import type { Gate } from './gate.ts'

type Given = { readonly [name: string]: unknown }

/** The options of a gate, validated and with defaults. */
export interface GateSettings {
  readonly name: string
  readonly classes: readonly string[]
  /** Returns the params as a new value. */
  readonly params: () => object
  readonly policy: () => PolicyVerdict
  /** The options of the question to people; their `key` is the wanted one. */
  readonly human: {
    readonly message: string
    readonly key: string
    readonly hasOwnKey: boolean
    readonly options: Given
  }
  /** The options of the decision; null if the author set none. */
  readonly agent: { readonly question: string; readonly options: Given } | null
  readonly facts: (() => unknown) | undefined
  readonly validForMs: number | undefined
  readonly run: (params: unknown, call: StepCall, facts: unknown) => unknown
  readonly undo: Undo | undefined
  readonly attempts: StepPolicy
}

/** The choices of the agent of a gate. */
export const gateChoices: DecideOperation['choices'] = ['approve', 'reject', 'ask-human']

const gateOptions = {
  params: required(checkParams),
  classes: optional(checkClasses, []),
  policy: optional(checkFunction<(params: object) => PolicyVerdict>),
  agent: optional(anything),
  human: optional(anything),
  facts: optional(checkFunction<() => unknown>, undefined),
  validFor: optional(milliseconds, undefined),
  run: required(checkFunction<GateSettings['run']>),
  undo: optional(checkFunction<Undo>, undefined),
  ...attemptOptions,
} satisfies Spec<Gate<object, unknown, unknown>>

/**
 * Checks the options of a gate except the ones that its questions check.
 * @throws PawlError 'option-invalid', 'duration-invalid', 'payload-refused'
 */
export function readGate(givenName: unknown, given: unknown): GateSettings {
  const name = checkName('name of gate', givenName)
  if (name.length > maxActionName)
    refuse('name of gate', name, `It must have at most ${maxActionName} characters; it has ${name.length}.`)
  const of = `of gate '${name}'`
  const options = readOptions(of, given, gateOptions)
  const { params, classes, policy, agent, human, facts, validFor, run, undo } = options
  const bytes = encode(params, 'params')
  const copy = (): object => decode(bytes) as object
  return {
    name,
    classes,
    params: copy,
    policy: policy === undefined ? () => 'human' : () => policy(copy()),
    human: readHuman(of, name, human),
    agent: agent === undefined ? null : readAgent(of, name, agent),
    facts,
    validForMs: validFor,
    run,
    undo,
    attempts: policyOf(options),
  }
}

function checkParams(option: string, given: unknown): Given {
  if (given === undefined) refuse(option, given, 'It must be an object: what is approved.')
  return checkObject(option, given)
}

function readHuman(of: string, name: string, given: unknown): GateSettings['human'] {
  const { message = `${name}?`, key, ...options } = checkObject(`human ${of}`, given)
  for (const option of ['params', 'onReject'])
    if (Object.hasOwn(options, option))
      refuse(`human.${option} ${of}`, options[option], 'The gate sets it; leave it out.')
  if (options['onTimeout'] === 'approve')
    refuse(
      `human.onTimeout ${of}`,
      'approve',
      "A gate needs a yes. Use policy: () => 'allow' for an action that needs none.",
    )
  return {
    message: message as string,
    key: key === undefined ? name : checkName(`human.key ${of}`, key),
    hasOwnKey: key !== undefined,
    options,
  }
}

function readAgent(of: string, name: string, given: unknown): NonNullable<GateSettings['agent']> {
  const { question = `${name}?`, fallback = 'ask-human', ...options } = checkObject(`agent ${of}`, given)
  for (const option of ['material', 'key'])
    if (Object.hasOwn(options, option))
      refuse(`agent.${option} ${of}`, options[option], 'The gate sets it; leave it out.')
  if (fallback !== 'ask-human' && fallback !== 'reject')
    refuse(`agent.fallback ${of}`, fallback, "It must be 'ask-human' or 'reject'.")
  return { question: question as string, options: { ...options, fallback } }
}
