import { parseDuration } from '../../checks/duration.ts'
import { checkKeys, checkNumber, checkObject, checkText, checkWhole, refuse } from '../../checks/options.ts'
import type { ReadChoice } from '../human/options.ts'

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
}

/**
 * Checks the options of `decide` except the ones it shares with asks.
 * @throws PawlError 'option-invalid', 'duration-invalid'
 */
export function readDecideOptions(
  of: string,
  given: unknown,
  choices: readonly ReadChoice[],
): DecideSettings {
  const options = checkObject(`options ${of}`, given)
  checkKeys(`the options ${of}`, options, [
    ...['fallback', 'material', 'agent', 'minConfidence', 'timeout', 'attempts', 'key', 'details', 'history'],
  ])
  const { fallback, minConfidence, timeout, attempts } = options
  return {
    fallback: readFallback(`fallback ${of}`, fallback, choices),
    minConfidence: minConfidence === undefined ? 0 : checkNumber(`minConfidence ${of}`, minConfidence, 0, 1),
    timeoutMs: timeout === undefined ? 60_000 : parseDuration(timeout, `timeout ${of}`),
    attempts: attempts === undefined ? 2 : checkWhole(`attempts ${of}`, attempts, 1, Number.MAX_SAFE_INTEGER),
  }
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
      return { do: 'fail', message: checkText(`${option}.fail`, fail) }
  }
  const values = choices.map((choice) => `'${choice.value}'`).join(', ')
  return refuse(
    option,
    value,
    `It must be the outcome if the agent cannot decide: ${values}, { ask: { to } } or { fail: 'why' }.`,
  )
}
