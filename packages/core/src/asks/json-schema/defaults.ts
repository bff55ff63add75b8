/** Returns a value with the defaults that the JSON Schema of an object, or of what is in it, has for missing properties. */
export function withDefaults(schema: unknown, value: unknown): unknown {
  if (!isRecord(schema)) return value
  const { properties, items } = schema
  if (Array.isArray(value)) return isRecord(items) ? value.map((item) => withDefaults(items, item)) : value
  if (!isRecord(value) || !isRecord(properties)) return value
  const completed = Object.entries(properties).flatMap(([name, property]) => {
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    const found =
      given === undefined && isRecord(property) ? property['default'] : withDefaults(property, given)
    return found === undefined ? [] : [[name, found] as const]
  })
  return { ...value, ...Object.fromEntries(completed) }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
