import type { Place } from '../../base/issues.ts'
import { showValue } from '../../base/text.ts'
import { gatesOf, orList, showAll, typesOf } from './scalars.ts'
import { isJson, type Json, listOf, memberOf, type Node, type Trail, type Walk } from './walk.ts'

/**
 * Checks a value against several schemas, of which it must match one.
 * A tag (`kind: 'card'`) rules out alternatives, so that a union of many objects costs no more than a few.
 *
 * If the value matches none, its type or its tag may identify the intended alternative; then the issues are those of
 * that alternative. Otherwise there is a single issue, whatever the number of alternatives.
 */
export class Alternatives {
  readonly #walk: Walk
  readonly #branches: readonly unknown[]
  readonly #nodes: readonly Node[]
  readonly #tags = new Map<unknown, Tags>()
  #index: TagIndex | null = null
  #types: string | null = null

  constructor(walk: Walk, branches: readonly unknown[]) {
    this.#walk = walk
    this.#branches = branches
    this.#nodes = branches.map((branch) => walk.nodeOf(branch))
  }

  /** Counts the alternatives that the value matches, up to `max`. */
  countValid(value: unknown, trail: Trail, max: number): number {
    let count = 0
    for (const node of this.#candidates(value))
      if (this.#walk.isValid(node, value, trail) && ++count === max) break
    return count
  }

  #candidates(value: unknown): readonly Node[] {
    if (this.#nodes.length < 3 || !isJson(value)) return this.#nodes
    this.#index ??= this.#makeIndex()
    const { tag, byValue, others } = this.#index
    const found = tag === undefined ? undefined : memberOf(value, tag)
    return found === undefined ? this.#nodes : (byValue.get(found) ?? others)
  }

  #makeIndex(): TagIndex {
    const tags = this.#branches.map((branch) => this.#tagsOf(branch))
    const tag = chooseTag(tags)
    const others: Node[] = []
    const byValue = new Map<unknown, Node[]>()
    for (const [i, node] of this.#nodes.entries()) {
      const values = tag === undefined ? undefined : tags[i]?.get(tag)
      if (values === undefined) others.push(node)
      for (const value of values ?? []) {
        const nodes = byValue.get(value) ?? []
        byValue.set(value, nodes)
        nodes.push(node)
      }
    }
    for (const [value, nodes] of byValue) byValue.set(value, [...nodes, ...others])
    return { tag, byValue, others }
  }

  explain(value: unknown, place: Place, trail: Trail): false {
    const walk = this.#walk
    const known = new Map<unknown, boolean>()
    const ofType = this.#branches.filter((branch) => isOfType(walk, branch, value, known))
    if (ofType.length === 0) return walk.refuse(place, this.#describeTypes())
    const tagged = ofType.filter((branch) => hasTags(value, this.#tagsOf(branch)))
    const meant = ofType.length === 1 ? ofType : tagged
    if (meant.length === 1) {
      walk.nodeOf(meant[0])(value, place, trail)
      return false
    }
    const left = meant.length === 0 ? ofType : meant
    const wrong = wrongTag(
      value,
      left.map((branch) => this.#tagsOf(branch)),
    )
    if (wrong !== undefined)
      return walk.refuse(walk.inside(place, wrong.tag), `must be one of ${showAll(wrong.values)}`)
    return walk.refuse(place, this.#describeAll(left, value, trail))
  }

  #tagsOf(branch: unknown): Tags {
    const known = this.#tags.get(branch) ?? tagsOf(this.#walk, branch)
    this.#tags.set(branch, known)
    return known
  }

  #describeTypes(): string {
    this.#types ??= describeTypes(this.#walk, this.#branches)
    return this.#types
  }

  /** Describes the first issue of each of the first three alternatives. */
  #describeAll(branches: readonly unknown[], value: unknown, trail: Trail): string {
    const walk = this.#walk
    const reasons = branches.slice(0, 3).map((branch) => walk.describe(walk.nodeOf(branch), value, trail))
    const distinct = [...new Set(reasons.filter((reason) => reason !== ''))]
    return `${fitsNone(this.#branches)}${distinct.length === 0 ? '' : ` (${distinct.join('; or ')})`}`
  }
}

function fitsNone(branches: readonly unknown[]): string {
  return `matches none of ${branches.length} alternatives`
}

// ── types

/** Returns the schema and the schemas that it applies to the same value. */
function partsOf(walk: Walk, schema: unknown, seen: Set<unknown> = new Set()): readonly Json[] {
  if (!isJson(schema) || seen.has(schema)) return []
  seen.add(schema)
  return [schema, ...appliedBy(walk, schema).flatMap((part) => partsOf(walk, part, seen))]
}

/** Returns the schemas that a schema itself applies to the same value. */
function appliedBy(walk: Walk, schema: Json): readonly unknown[] {
  return [walk.targetOf(schema), ...listOf(schema['allOf'])]
}

/**
 * Returns whether a value has the type that a schema requires, without looking at its parts. Each schema is judged once: many paths
 * can lead to the same one. `known` has what was found; a schema that refers to itself counts as one that requires no more.
 */
function isOfType(
  walk: Walk,
  schema: unknown,
  value: unknown,
  known: Map<unknown, boolean> = new Map(),
): boolean {
  if (!isJson(schema)) return schema !== false
  const before = known.get(schema)
  if (before !== undefined) return before
  known.set(schema, true)
  const accepts = (one: unknown): boolean => isOfType(walk, one, value, known)
  const found =
    gatesOf(schema).every((gate) => gate(value) === null) &&
    appliedBy(walk, schema).every(accepts) &&
    alternativesOf(schema).every((some) => some.some(accepts))
  known.set(schema, found)
  return found
}

function alternativesOf({ anyOf, oneOf }: Json): readonly (readonly unknown[])[] {
  return [anyOf, oneOf].filter((some) => Array.isArray(some))
}

function describeTypes(walk: Walk, branches: readonly unknown[]): string {
  const known = new Map<unknown, readonly string[]>()
  const words = branches.map((branch) => wordsOf(walk, branch, known))
  if (words.length === 0 || words.some((some) => some.length === 0)) return fitsNone(branches)
  return `must be ${orList([...new Set(words.flat())])}`
}

/**
 * Returns short names for what a schema accepts, such as types; empty if it cannot be named briefly. Each schema is named once: many
 * paths can lead to the same one. `known` has what was found; a schema that refers to itself has no name.
 */
function wordsOf(
  walk: Walk,
  schema: unknown,
  known: Map<unknown, readonly string[]> = new Map(),
): readonly string[] {
  if (!isJson(schema)) return []
  const before = known.get(schema)
  if (before !== undefined) return before
  known.set(schema, [])
  const found = findWords(schema, appliedBy(walk, schema), (one) => wordsOf(walk, one, known))
  known.set(schema, found)
  return found
}

/** Finds the names of a schema in its own keywords, else in the schemas that it applies to the same value. */
function findWords(
  schema: Json,
  applied: readonly unknown[],
  wordsOfOne: (schema: unknown) => readonly string[],
): readonly string[] {
  if (Object.hasOwn(schema, 'const')) return [showValue(schema['const'])]
  const some = listOf(schema['enum'])
  if (some.length > 0) return [showAll(some)]
  const types = typesOf(schema)
  if (types.length > 0) return types
  const [inner = []] = alternativesOf(schema)
  const words = inner.map(wordsOfOne)
  if (words.length > 0 && words.every((one) => one.length > 0)) return [...new Set(words.flat())]
  for (const one of applied) {
    const found = wordsOfOne(one)
    if (found.length > 0) return found
  }
  return []
}

// ── tags of objects

/** Members that accept only certain values. */
type Tags = ReadonlyMap<string, ReadonlySet<unknown>>

function tagsOf(walk: Walk, schema: unknown): Tags {
  const tags = new Map<string, ReadonlySet<unknown>>()
  for (const part of partsOf(walk, schema))
    for (const [name, member] of Object.entries(Object(part['properties'])))
      for (const inner of partsOf(walk, member)) {
        const values = 'const' in inner ? [inner['const']] : listOf(inner['enum'])
        const isTag = values.length > 0 && values.every((one) => typeof one !== 'object')
        if (isTag) tags.set(name, new Set(values))
      }
  return tags
}

/** The remaining alternatives for an object, by the value of its tag. */
interface TagIndex {
  readonly tag: string | undefined
  readonly byValue: ReadonlyMap<unknown, readonly Node[]>
  readonly others: readonly Node[]
}

/** Chooses the tag with the most values: one with the same value everywhere (`version: 1`) does not discriminate. */
function chooseTag(all: readonly Tags[]): string | undefined {
  return valuesOf(all)[0]?.[0]
}

/** Returns the tags and their possible values, the tag with the most values first. */
function valuesOf(all: readonly Tags[]): readonly (readonly [tag: string, values: ReadonlySet<unknown>])[] {
  const known = new Map<string, Set<unknown>>()
  for (const [tag, some] of all.flatMap((tags) => [...tags])) {
    const values = known.get(tag) ?? new Set()
    known.set(tag, values)
    for (const value of some) values.add(value)
  }
  return [...known].toSorted(([, x], [, y]) => y.size - x.size)
}

/** Returns whether the tags of an object match; a missing tag matches. */
function hasTags(value: unknown, tags: Tags): boolean {
  if (!isJson(value)) return true
  return [...tags].every(([tag, values]) => {
    const own = memberOf(value, tag)
    return own === undefined || values.has(own)
  })
}

/** Finds a tag that all alternatives have, none of them with the given value. */
function wrongTag(
  value: unknown,
  all: readonly Tags[],
): { readonly tag: string; readonly values: readonly unknown[] } | undefined {
  if (!isJson(value)) return undefined
  const found = valuesOf(all).find(
    ([tag, values]) =>
      values.size > 1 && !values.has(memberOf(value, tag)) && all.every((tags) => tags.has(tag)),
  )
  return found === undefined ? undefined : { tag: found[0], values: [...found[1]] }
}
