import { type Duration, readDuration } from '../base/duration.ts'
import { clipText, showValue } from '../base/text.ts'
import { PawlError } from '../errors/pawl-error.ts'

/**
 * Checks external text (configuration, a request) and returns it as a {@link Duration}.
 * Works with zod: `z.string().transform(duration)`.
 * @throws PawlError 'duration-invalid'
 */
export function duration(text: string): Duration {
  parseDuration(text)
  return text as Duration
}

/**
 * Returns the length of a duration in whole milliseconds. `option` names the option in the error message.
 * @throws PawlError 'duration-invalid'
 */
export function parseDuration(value: unknown, option?: string): number {
  const read = readDuration(value)
  if ('ms' in read) return read.ms
  const text = clipText(typeof value === 'string' ? value : showValue(value), 100)
  const where = option === undefined ? '' : ` (${option})`
  throw new PawlError(
    'duration-invalid',
    { text },
    { what: `'${text}' is not a duration${where}: ${read.wrong}.` },
  )
}
