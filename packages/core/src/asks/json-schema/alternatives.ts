import type { Place } from '../../base/issues.ts'
import { showValue } from '../../base/text.ts'
import { gatesOf, orList, showAll, typesOf } from './scalars.ts'
import { isJson, type Json, listOf, memberOf, type Node, type Trail, type Walk } from './walk.ts'

/**
 * Several schemas of which a value has to fit one. Which of them a value cannot fit is told by a tag (`kind: 'card'`), so
 * that a union of many objects costs no more than a few.
 *
 * If a value fits none, its type or its tag may tell which alternative is meant: then the issues are those of that one.
 * Otherwise there is one issue, whatever the number of alternatives.
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

  /** How many the value fits; it is not looked any further after `max`. */
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
    const ofType = this.#branches.filter((branch) => isOfType(walk, branch, value))
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

  /** The first issue of each of the first three. */
  #describeAll(branches: readonly unknown[], value: unknown, trail: Trail): string {
    const walk = this.#walk
    const reasons = branches.slice(0, 3).map((branch) => walk.describe(walk.nodeOf(branch), value, trail))
    const distinct = [...new Set(reasons.filter((reason) => reason !== ''))]
    return `${fitsNone(this.#branches)}${distinct.length === 0 ? '' : ` (${distinct.join('; or ')})`}`
  }
}

function fitsNone(branches: readonly unknown[]): string {
  return `fits none of ${branches.length} alternatives`
}

// ── types

/** The schema, and those that it says hold for the same value. */
function partsOf(walk: Walk, schema: unknown, seen: Set<unknown> = new Set()): readonly Json[] {
  if (!isJson(schema) || seen.has(schema)) return []
  seen.add(schema)
  const { $ref } = schema
  const target = typeof $ref === 'string' ? walk.resolve($ref, schema) : undefined
  return [schema, ...[target, ...listOf(schema['allOf'])].flatMap((part) => partsOf(walk, part, seen))]
}

/** Whether a value is what a schema says of it without looking into it. */
function isOfType(
  walk: Walk,
  schema: unknown,
  value: unknown,
  around: ReadonlySet<unknown> = new Set(),
): boolean {
  if (schema === false) return false
  const seen = new Set(around)
  return partsOf(walk, schema, seen).every(
    (part) =>
      gatesOf(part).every((gate) => gate(value) === null) &&
      alternativesOf(part).every((some) => some.some((one) => isOfType(walk, one, value, seen))),
  )
}

function alternativesOf({ anyOf, oneOf }: Json): readonly (readonly unknown[])[] {
  return [anyOf, oneOf].filter((some) => Array.isArray(some))
}

function describeTypes(walk: Walk, branches: readonly unknown[]): string {
  const words = branches.map((branch) => wordsOf(walk, branch))
  if (words.length === 0 || words.some((some) => some.length === 0)) return fitsNone(branches)
  return `must be ${orList([...new Set(words.flat())])}`
}

/** What a schema says in a word or two that a value must be; nothing if it cannot be said so. */
function wordsOf(walk: Walk, schema: unknown, around: ReadonlySet<unknown> = new Set()): readonly string[] {
  const seen = new Set(around)
  for (const part of partsOf(walk, schema, seen)) {
    if (Object.hasOwn(part, 'const')) return [showValue(part['const'])]
    const some = listOf(part['enum'])
    if (some.length > 0) return [showAll(some)]
    const types = typesOf(part)
    if (types.length > 0) return types
    const [inner] = alternativesOf(part)
    const words = (inner ?? []).map((one) => wordsOf(walk, one, seen))
    if (words.length > 0 && words.every((one) => one.length > 0)) return words.flat()
  }
  return []
}

// ── what tells objects apart

/** Members that can only have some values. */
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

/** Which alternatives are left for an object by the value of the tag that most of them have. */
interface TagIndex {
  readonly tag: string | undefined
  readonly byValue: ReadonlyMap<unknown, readonly Node[]>
  readonly others: readonly Node[]
}

/** The one with the most values: one that all have in common (`version: 1`) tells nothing. */
function chooseTag(all: readonly Tags[]): string | undefined {
  return valuesOf(all)[0]?.[0]
}

/** The tags, and the values that each can have; those with the most come first. */
function valuesOf(all: readonly Tags[]): readonly (readonly [tag: string, values: ReadonlySet<unknown>])[] {
  const known = new Map<string, Set<unknown>>()
  for (const [tag, some] of all.flatMap((tags) => [...tags])) {
    const values = known.get(tag) ?? new Set()
    known.set(tag, values)
    for (const value of some) values.add(value)
  }
  return [...known].toSorted(([, x], [, y]) => y.size - x.size)
}

/** Only objects have any; one that is missing does not contradict. */
function hasTags(value: unknown, tags: Tags): boolean {
  if (!isJson(value)) return true
  return [...tags].every(([tag, values]) => {
    const own = memberOf(value, tag)
    return own === undefined || values.has(own)
  })
}

/** A tag that all alternatives have, none with the value that is there. */
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
