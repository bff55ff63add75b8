// A reference is an object with the key `$result` in the params of a task: `{ $result: 'list.count' }`, or with `or` beside it.

/** Where a reference points. */
export interface Reference {
  readonly task: string
  readonly path: readonly string[]
}

/** A reference as it is written. It is checked before it is read. */
export interface WrittenReference {
  readonly $result: unknown
  readonly or?: unknown
}

/** Lists the references in params, each with its place. The value of `or` may hold others. */
export function referencesIn(
  params: unknown,
  at: string,
): readonly (readonly [place: string, reference: WrittenReference])[] {
  if (Array.isArray(params)) return params.flatMap((one, i) => referencesIn(one, `${at}[${i}]`))
  if (!isRecord(params)) return []
  if (isReference(params)) return [[at, params], ...referencesIn(params.or, `${at}.or`)]
  return Object.entries(params).flatMap(([name, one]) => referencesIn(one, `${at}.${name}`))
}

/** Finds what a reference points to; undefined if it names none of the tasks. The longest id counts, since ids may have dots. */
export function readReference(text: string, tasks: Iterable<string>): Reference | undefined {
  let task: string | undefined
  for (const id of tasks)
    if ((text === id || text.startsWith(`${id}.`)) && id.length >= (task?.length ?? 0)) task = id
  if (task === undefined) return undefined
  return { task, path: text === task ? [] : text.slice(task.length + 1).split('.') }
}

/** The params with their references replaced, or the first reference that finds nothing. */
export type Filled = { readonly params: unknown } | { readonly missing: string }

/** Replaces the references by what they point to. What is read from results is data, and not searched again. */
export function fillReferences(
  params: object,
  needed: Iterable<string>,
  results: { readonly [task: string]: unknown },
): Filled {
  let missing: string | undefined
  const ids = [...needed]
  const fill = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fill)
    if (!isRecord(value)) return value
    if (!isReference(value)) return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, fill(v)]))
    const text = String(value.$result)
    const found = valueAt(readReference(text, ids), results)
    if (found !== undefined) return found
    if (value.or === undefined) missing ??= text
    return fill(value.or)
  }
  const filled = fill(params)
  return missing === undefined ? { params: filled } : { missing }
}

/** Whether a value has members that may be references: dates, maps and the like have none. */
function isRecord(value: unknown): value is { readonly [name: string]: unknown } {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function isReference(value: {
  readonly [name: string]: unknown
}): value is WrittenReference & { readonly [name: string]: unknown } {
  return Object.hasOwn(value, '$result')
}

function valueAt(reference: Reference | undefined, results: { readonly [task: string]: unknown }): unknown {
  if (reference === undefined) return undefined
  let value = results[reference.task]
  for (const name of reference.path)
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as { readonly [name: string]: unknown })[name]
        : undefined
  return value
}
