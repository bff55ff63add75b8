import { checkKeys, checkName, checkObject, checkShown, refuse } from '../../checks/options.ts'
import {
  anything,
  milliseconds,
  number,
  optional,
  readOptions,
  required,
  type Spec,
  whole,
} from '../../checks/spec.ts'
import type { ReadChoice } from '../human/options.ts'
import type { DecideOptions } from './agent.ts'

/** The outcome if the agent cannot decide. */
export type Fallback =
  | { readonly do: 'choose'; readonly choice: string }
  | { readonly do: 'ask'; readonly options: { readonly [name: string]: unknown } }
  | { readonly do: 'fail'; readonly message: string }

/** The options of `decide`, validated and with defaults. */
export interface DecideSettings {
  readonly fallback: Fallback
  readonly minConfidence: number
  readonly timeoutMs: number
  readonly attempts: number
  readonly key: string | undefined
  /** These are checked where they are used. */
  readonly material: unknown
  readonly agent: unknown
  readonly details: unknown
  readonly history: unknown
}

const decideOptions = {
  fallback: required(anything),
  material: optional(anything, undefined),
  agent: optional(anything, undefined),
  minConfidence: optional(number(0, 1), 0),
  timeout: optional(milliseconds, 60_000),
  attempts: optional(whole(1), 2),
  key: optional(checkName, undefined),
  details: optional(anything, undefined),
  history: optional(anything, undefined),
} satisfies Spec<DecideOptions<string>>

/**
 * Checks the options of `decide` except the ones it shares with asks.
 * @throws PawlError 'option-invalid', 'duration-invalid'
 */
export function readDecideOptions(
  of: string,
  given: unknown,
  choices: readonly ReadChoice[],
): DecideSettings {
  const { fallback, timeout: timeoutMs, ...others } = readOptions(of, given, decideOptions)
  return { ...others, timeoutMs, fallback: readFallback(`fallback ${of}`, fallback, choices) }
}

function readFallback(option: string, value: unknown, choices: readonly ReadChoice[]): Fallback {
  if (typeof value === 'string' && choices.some((choice) => choice.value === value))
    return { do: 'choose', choice: value }
  if (typeof value === 'object' && value !== null) {
    const given = checkObject(option, value)
    checkKeys(option, given, ['ask', 'fail'])
    const { ask, fail } = given
    if (ask !== undefined && fail === undefined)
      return { do: 'ask', options: checkObject(`${option}.ask`, ask) }
    if (fail !== undefined && ask === undefined)
      return { do: 'fail', message: checkShown(`${option}.fail`, fail) }
  }
  const values = choices.map((choice) => `'${choice.value}'`).join(', ')
  return refuse(
    option,
    value,
    `It must be the outcome if the agent cannot decide: ${values}, { ask: { to } } or { fail: 'why' }.`,
  )
}
