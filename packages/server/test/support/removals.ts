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
      if (isProse(key, value) || isLifted(key, path)) return []
      return counterpart === undefined ? [pointer] : findRemovals(value, counterpart, pointer)
    }),
  )
}

function findInList(older: readonly unknown[], newer: unknown, path: string): readonly string[] {
  const others: readonly unknown[] = Array.isArray(newer) ? newer : []
  const removed = older.flatMap((item, index) => {
    if (isParameter(item)) {
      const same = others.find((other) => isParameter(other) && nameOf(other) === nameOf(item))
      return same === undefined ? [`${path}: ${nameOf(item)}`] : findRemovals(item, same, `${path}/${index}`)
    }
    if (typeof item === 'object') return findRemovals(item, others[index], `${path}/${index}`)
    return others.includes(item) ? [] : [`${path}: ${JSON.stringify(item)}`]
  })
  return [...removed, ...findNewlyRequiredParameters(older, others, path)]
}

function findNewlyRequiredParameters(
  older: readonly unknown[],
  newer: readonly unknown[],
  path: string,
): readonly string[] {
  const needed = (all: readonly unknown[]): readonly string[] =>
    all.filter((item) => isParameter(item) && item.required === true).map((item) => nameOf(item as Parameter))
  const before = needed(older)
  return needed(newer)
    .filter((name) => !before.includes(name))
    .map((name) => `${path}: ${name} is required`)
}

/** A request that was complete is not any more. In replies, more required fields are a promise. */
function findNewlyRequired(older: object, newer: object, path: string): readonly string[] {
  if (!path.includes('/requestBody/')) return []
  const before = requiredOf(older)
  return requiredOf(newer)
    .filter((name) => !before.includes(name))
    .map((name) => `${path}/required: ${JSON.stringify(name)} is new`)
}

/** A request that was complete stays so if less is required. In replies, each required field is a promise. */
function isLifted(key: string, path: string): boolean {
  return key === 'required' && /\/(requestBody|parameters)(\/|$)/.test(path)
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
  readonly required?: boolean
}

function isParameter(item: unknown): item is Parameter {
  return typeof item === 'object' && item !== null && 'in' in item && 'name' in item
}

function nameOf(parameter: Parameter): string {
  return `${parameter.in} ${parameter.name}`
}
