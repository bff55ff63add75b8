import { repairText } from '../../base/text.ts'
import { refuse } from '../../checks/options.ts'
import type { Shown } from './template.ts'

/**
 * Replaces the {placeholders} of a message. Only names that have a value are placeholders; other braces are text, and
 * braces inside a value are never replaced.
 */
export function fillMessage(message: string, values: Readonly<Record<string, unknown>>): string {
  return message.replace(/\{([^{}]+)\}/g, (braces, name: string) => {
    if (!Object.hasOwn(values, name)) return braces
    const value = values[name]
    return isShown(value)
      ? show(value)
      : refuse(
          `{${name}} of the message`,
          value,
          'A message can contain only text, numbers, booleans, dates and null.',
        )
  })
}

/** Returns the placeholders that {@link fillMessage} does not replace: names without a value. JSON in braces is text. */
export function findUnfilled(message: string, values: Readonly<Record<string, unknown>>): readonly string[] {
  const names = [...message.matchAll(/\{([^{}":\n]+)\}/g)].map(([, name]) => name as string)
  return [...new Set(names)].filter((name) => !Object.hasOwn(values, name))
}

/** Returns whether a value can be part of a message. */
export function isShown(value: unknown): value is Shown {
  return (
    value === null ||
    value instanceof Date ||
    ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
  )
}

function show(value: Shown): string {
  return value instanceof Date
    ? Number.isNaN(value.getTime())
      ? 'an invalid date'
      : value.toISOString()
    : repairText(String(value))
}
