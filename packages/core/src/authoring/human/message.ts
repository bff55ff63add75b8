import { refuse } from '../../checks/options.ts'
import type { Shown } from './template.ts'

/**
 * Fills the {placeholders} of a message. Only names found in the values are placeholders; other braces are
 * text, so that a value with braces in it is never read as one.
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
          'Only text, numbers, booleans, dates and null can stand in a sentence.',
        )
  })
}

/** The placeholders that {@link fillMessage} leaves as they are: names without a value. JSON in braces is text. */
export function findUnfilled(message: string, values: Readonly<Record<string, unknown>>): readonly string[] {
  const names = [...message.matchAll(/\{([^{}":\n]+)\}/g)].map(([, name]) => name as string)
  return [...new Set(names)].filter((name) => !Object.hasOwn(values, name))
}

/** Whether it can stand in a sentence. */
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
    : String(value)
}
