/**
 * Finds what a document no longer has, or has narrowed: a client of the older one could depend on it. Descriptions do not count.
 * @returns JSON pointers, with the value where it matters
 */
export function findRemovals(older: unknown, newer: unknown, path = ''): readonly string[] {
  if (typeof older !== 'object' || older === null)
    return older === newer ? [] : [`${path}: ${JSON.stringify(older)}`]
  if (Array.isArray(older)) return findInList(older, newer, path)
  if (typeof newer !== 'object' || newer === null) return [path]
  const required = findNewlyRequired(older, newer, path)
  return required.concat(
    Object.entries(older).flatMap(([key, value]) => {
      const pointer = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
      const counterpart = (newer as Readonly<Record<string, unknown>>)[key]
      if (isProse(key, value)) return []
      return counterpart === undefined ? [pointer] : findRemovals(value, counterpart, pointer)
    }),
  )
}

function findInList(older: readonly unknown[], newer: unknown, path: string): readonly string[] {
  const others: readonly unknown[] = Array.isArray(newer) ? newer : []
  return older.flatMap((item, index) => {
    if (isParameter(item)) {
      const same = others.find((other) => isParameter(other) && nameOf(other) === nameOf(item))
      return same === undefined ? [`${path}: ${nameOf(item)}`] : findRemovals(item, same, `${path}/${index}`)
    }
    if (typeof item === 'object') return findRemovals(item, others[index], `${path}/${index}`)
    return others.includes(item) ? [] : [`${path}: ${JSON.stringify(item)}`]
  })
}

/** A request that was complete is not any more. In replies, more required fields are a promise. */
function findNewlyRequired(older: object, newer: object, path: string): readonly string[] {
  if (!path.includes('/requestBody/')) return []
  const before = requiredOf(older)
  return requiredOf(newer)
    .filter((name) => !before.includes(name))
    .map((name) => `${path}/required: ${JSON.stringify(name)} is new`)
}

function requiredOf(schema: object): readonly unknown[] {
  const { required } = schema as { readonly required?: unknown }
  return Array.isArray(required) ? required : []
}

function isProse(key: string, value: unknown): boolean {
  return (key === 'description' || key === 'summary' || key === 'title') && typeof value === 'string'
}

interface Parameter {
  readonly name: string
  readonly in: string
}

function isParameter(item: unknown): item is Parameter {
  return typeof item === 'object' && item !== null && 'in' in item && 'name' in item
}

function nameOf(parameter: Parameter): string {
  return `${parameter.in} ${parameter.name}`
}
