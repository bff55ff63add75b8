import { References } from './references.ts'

/** Returns a value with the defaults that the JSON Schema of an object, or of what is in it, has for missing properties. */
export function withDefaults(schema: unknown, value: unknown): unknown {
  return complete(schema, value, new References(schema))
}

function complete(part: unknown, value: unknown, references: References): unknown {
  const { properties, items } = references.follow(part) ?? {}
  if (Array.isArray(value))
    return items === undefined ? value : value.map((item) => complete(items, item, references))
  if (!isRecord(value) || !isRecord(properties)) return value
  const completed = Object.entries(properties).flatMap(([name, property]) => {
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    const found =
      given === undefined ? references.follow(property)?.['default'] : complete(property, given, references)
    return found === undefined ? [] : [[name, found] as const]
  })
  return { ...value, ...Object.fromEntries(completed) }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
