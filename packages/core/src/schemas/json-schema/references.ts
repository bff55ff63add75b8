import { isEqual } from '../../base/equal.ts'
import { isJson, type Json } from './walk.ts'

/**
 * Resolves `$ref`s within one document. A schema with an `$id` is its own resource, and `#` refers to its root.
 * Compares `$id`s as text; relative ones are not resolved.
 */
export class References {
  readonly #root: unknown
  readonly #targets = new Map<Json, unknown>()
  readonly #followed = new Map<Json, Json | undefined>()
  #index: Index | null = null

  constructor(root: unknown) {
    this.#root = root
  }

  /**
   * Returns what the `$ref` of a schema leads to, past schemas that only refer to the next one.
   * Undefined if there is no `$ref`, or if it leads to what is missing or back to itself.
   */
  targetOf(schema: Json): unknown {
    if (this.#targets.has(schema)) return this.#targets.get(schema)
    const chain = [schema]
    // Undefined until the end is known: a chain that leads back to this schema has none.
    this.#targets.set(schema, undefined)
    let next = this.#hop(schema)
    while (isJson(next) && onlyRefers(next)) {
      if (this.#targets.has(next)) {
        next = this.#targets.get(next)
        break
      }
      this.#targets.set(next, undefined)
      chain.push(next)
      next = this.#hop(next)
    }
    for (const one of chain) this.#targets.set(one, next)
    return next
  }

  /**
   * Returns a schema without `$ref`: with what it refers to, and what is beside it. The same object for the same schema.
   * Undefined if that is no object, is missing, or refers only to itself: then the schema says nothing about a value.
   */
  follow(schema: unknown): Json | undefined {
    const chain: Json[] = []
    let next = schema
    while (isJson(next) && !this.#followed.has(next)) {
      if (typeof next['$ref'] !== 'string') {
        this.#followed.set(next, next)
        break
      }
      // Undefined until the end of the chain is known: a schema that leads back to this one has no end.
      this.#followed.set(next, undefined)
      chain.push(next)
      next = this.#hop(next)
    }
    let found = isJson(next) ? this.#followed.get(next) : undefined
    for (const one of chain.toReversed()) {
      found = found && combine(found, one)
      this.#followed.set(one, found)
    }
    return found
  }

  #hop(from: Json): unknown {
    const { $ref } = from
    if (typeof $ref !== 'string') return undefined
    const [base = '', fragment = ''] = $ref.split('#', 2)
    this.#index ??= indexOf(this.#root)
    const resource = base === '' ? this.#index.resources.get(from) : this.#index.ids.get(base)
    if (resource === undefined || fragment === '') return resource
    return fragment.startsWith('/')
      ? pointed(resource, fragment)
      : this.#index.anchors.get(resource)?.get(fragment)
  }
}

function onlyRefers(schema: Json): boolean {
  return (
    typeof schema['$ref'] === 'string' &&
    Object.keys(schema).every((word) => ofDocument.includes(word) || annotations.includes(word))
  )
}

/** Keywords that describe a document, and say nothing of a value. */
const ofDocument: readonly string[] = [
  ...['$ref', '$schema', '$id', '$anchor', '$comment', '$defs', 'definitions'],
]
/** Keywords that limit no value: those beside a `$ref` replace those of its target. */
const annotations: readonly string[] = [
  ...['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'],
]

/** Keywords that are judged together. */
const groups: readonly (readonly string[])[] = [
  ['properties', 'patternProperties', 'additionalProperties'],
  ['prefixItems', 'items'],
  ['contains', 'minContains', 'maxContains'],
  ['if', 'then', 'else'],
]

/** Combines the target of a `$ref` with the keywords beside it. Both apply: where they limit the same, by an `allOf`. */
function combine(target: Json, schema: Json): Json {
  const beside = pick(schema, (word) => !ofDocument.includes(word))
  const words = Object.keys(beside)
  if (words.length === 0) return target
  const limits = words.filter((word) => !annotations.includes(word))
  if (limits.every((word) => isFree(target, beside, word))) return { ...target, ...beside }
  return {
    ...pick({ ...target, ...beside }, (word) => annotations.includes(word)),
    allOf: [target, beside],
  }
}

function pick(schema: Json, isPicked: (word: string) => boolean): Json {
  return Object.fromEntries(Object.entries(schema).filter(([word]) => isPicked(word)))
}

/** Returns whether a keyword beside a `$ref` can be added to the target: it says the same, or what the target does not limit. */
function isFree(target: Json, beside: Json, word: string): boolean {
  const group = groups.find((words) => words.includes(word)) ?? [word]
  return (
    group.every((one) => !Object.hasOwn(target, one)) ||
    group.every((one) => isEqual(target[one], beside[one]))
  )
}

interface Index {
  readonly ids: Map<string, Json>
  /** The resource of each part of the document. */
  readonly resources: Map<object, Json>
  readonly anchors: Map<Json, Map<string, Json>>
}

/** Parts wait in a list: the document may be nested more deeply than the stack. */
function indexOf(root: unknown): Index {
  const index: Index = { ids: new Map(), resources: new Map(), anchors: new Map() }
  if (!isJson(root)) return index
  const left: (readonly [part: unknown, around: Json])[] = [[root, root]]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [part, around] = next
    const resource = isJson(part) ? enter(part, around, index) : around
    for (const inner of innerOf(part))
      if (typeof inner === 'object' && inner !== null) left.push([inner, resource])
  }
  return index
}

function innerOf(part: unknown): readonly unknown[] {
  return Array.isArray(part) ? part : Object.values(Object(part))
}

/** Adds a part to the index. Returns its resource. */
function enter(part: Json, around: Json, index: Index): Json {
  const { $id, $anchor } = part
  const resource = typeof $id === 'string' ? part : around
  if (typeof $id === 'string') index.ids.set($id.replace(/#$/, ''), part)
  index.resources.set(part, resource)
  if (typeof $anchor === 'string') {
    const known = index.anchors.get(resource) ?? new Map<string, Json>()
    index.anchors.set(resource, known.set($anchor, part))
  }
  return resource
}

/** Returns the target of a JSON pointer. */
function pointed(resource: Json, pointer: string): unknown {
  const keys = pointer.split('/').slice(1).map(readKey)
  return keys.reduce<unknown>(
    (part, key) => (Object.hasOwn(Object(part), key) ? Object(part)[key] : undefined),
    resource,
  )
}

function readKey(text: string): string {
  return decode(text).replaceAll('~1', '/').replaceAll('~0', '~')
}

/** A `%` that encodes nothing is part of a name. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
