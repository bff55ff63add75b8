import { IssueList, type Place, segmentsOf } from '../../base/issues.ts'
import { arrayRules } from './arrays.ts'
import { inPlaceRules } from './in-place.ts'
import { objectRules } from './objects.ts'
import { References } from './references.ts'
import { gatesOf, numberRules, textRules } from './scalars.ts'
import { unevaluatedRules } from './unevaluated.ts'
import { isJson, type Json, type Node, type Rule, type Trail, type Walk } from './walk.ts'

/**
 * Checks a value against a JSON Schema (draft 2020-12) and adds issues to a list. `at` is the path of the value.
 * The cost is linear in the size of the value for every schema: what a `$ref` leads to is checked once for each part of
 * the value. Only a `pattern` may take longer, as it does in the author's schema. The search for issues stops
 * when the list is full.
 *
 * Accepts whatever it cannot judge: an unknown keyword, an unknown reference, a schema that refers to itself for the
 * same value, and `undefined` inside a value, which JSON does not have. The author's schema makes the final decision.
 */
export function checkJsonSchema(schema: object, value: unknown, at: string, list: IssueList): void {
  if (isJson(schema)) new Check(schema, value, at, list).run()
}

class Check implements Walk {
  readonly #schema: Json
  readonly #value: unknown
  readonly #references: References
  readonly #nodes = new Map<unknown, Node>()
  /** Whether a value fits, by the target of a `$ref`: many paths through a schema can lead to both. */
  readonly #known = new Map<unknown, Map<unknown, boolean>>()
  #reports: Reports | null
  /** Set while describing why no alternative matches; descriptions do not nest. */
  #isDescribing = false
  #hasUndefined: boolean | null = null

  constructor(schema: Json, value: unknown, at: string, list: IssueList) {
    this.#schema = schema
    this.#value = value
    this.#references = new References(schema)
    this.#reports = new Reports(list, [at])
  }

  run(): void {
    try {
      const fits = this.nodeOf(this.#schema)(this.#value, null, null)
      if (!fits && this.#reports?.isEmpty) this.refuse(null, 'is not valid')
    } catch (error) {
      // The value is nested too deeply for the stack.
      if (!(error instanceof RangeError)) throw error
    }
  }

  // ── used by the keywords

  get isReporting(): boolean {
    return this.#reports !== null
  }

  get isOver(): boolean {
    return this.#reports === null || this.#reports.list.isFull
  }

  get hasUndefined(): boolean {
    this.#hasUndefined ??= holdsUndefined(this.#value)
    return this.#hasUndefined
  }

  nodeOf(schema: unknown): Node {
    const known = this.#nodes.get(schema)
    if (known !== undefined) return known
    const node = this.#makeNode(schema)
    this.#nodes.set(schema, node)
    return node
  }

  refuse(place: Place, message: string): false {
    this.#reports?.add(place, message)
    return false
  }

  inside(place: Place, key: string | number): Place {
    return this.#reports === null ? null : { within: place, key }
  }

  part(node: Node, value: unknown, place: Place, key: string | number): boolean {
    return value === undefined || node(value, this.inside(place, key), null)
  }

  isValid(node: Node, value: unknown, trail: Trail): boolean {
    return this.#with(null, () => node(value, null, trail))
  }

  describe(node: Node, value: unknown, trail: Trail): string {
    if (this.#isDescribing) return ''
    this.#isDescribing = true
    const list = new IssueList(1)
    this.#with(new Reports(list, []), () => node(value, null, trail))
    this.#isDescribing = false
    const { path = '', message = '' } = list.first ?? {}
    return path === '' ? message : `${path}: ${message}`
  }

  targetOf(schema: Json): unknown {
    return this.#references.targetOf(schema)
  }

  follow(target: unknown, value: unknown, place: Place, before: Trail): boolean {
    for (let one = before; one !== null; one = one.before) if (one.target === target) return true
    const node = this.nodeOf(target)
    const trail = { target, before }
    // One that has no parts, and that no other `$ref` leads to, is as fast to check again.
    if (before === null && !isObject(value)) return node(value, place, trail)
    const known = this.#knownOf(target)
    let fits = known.get(value)
    if (fits === undefined) {
      fits = this.isValid(node, value, trail)
      known.set(value, fits)
    }
    if (fits || this.#reports === null) return fits
    return this.#reports.isNew(target, isObject(value) ? value : place) && node(value, place, trail)
  }

  // ──

  #knownOf(target: unknown): Map<unknown, boolean> {
    const known = this.#known.get(target) ?? new Map<unknown, boolean>()
    this.#known.set(target, known)
    return known
  }

  #with<Result>(reports: Reports | null, task: () => Result): Result {
    const before = this.#reports
    this.#reports = reports
    const result = task()
    this.#reports = before
    return result
  }

  #makeNode(schema: unknown): Node {
    if (schema === false) return (_, place) => this.refuse(place, 'is not expected')
    if (!isJson(schema)) return () => true
    const gates = gatesOf(schema)
    const rules = new RulesOf(this, schema)
    return (value, place, trail) => {
      for (const gate of gates) {
        const message = gate(value)
        if (message !== null) return this.refuse(place, message)
      }
      let fits = true
      for (const rule of rules.for(value)) {
        if (rule(value, place, trail)) continue
        fits = false
        if (this.isOver) break
      }
      return fits
    }
  }
}

/** Holds the rules of a schema by kind of value. They are created when such a value first occurs. */
class RulesOf {
  readonly #walk: Walk
  readonly #schema: Json
  readonly #known: { [kind in Kind]?: readonly Rule[] } = {}

  constructor(walk: Walk, schema: Json) {
    this.#walk = walk
    this.#schema = schema
  }

  for(value: unknown): readonly Rule[] {
    const kind = kindOf(value)
    const known = this.#known[kind] ?? this.#make(kind)
    this.#known[kind] = known
    return known
  }

  #make(kind: Kind): readonly Rule[] {
    const own = rulesByKind[kind](this.#walk, this.#schema) as readonly Rule[]
    return [...own, ...inPlaceRules(this.#walk, this.#schema), ...unevaluatedRules(this.#walk, this.#schema)]
  }
}

type Kind = 'number' | 'string' | 'array' | 'object' | 'other'

const rulesByKind: { readonly [kind in Kind]: (walk: Walk, schema: Json) => readonly Rule<never>[] } = {
  number: numberRules,
  string: textRules,
  array: arrayRules,
  object: objectRules,
  other: () => [],
}

function kindOf(value: unknown): Kind {
  if (typeof value === 'string') return 'string'
  // JSON has neither NaN nor infinities.
  if (typeof value === 'number') return Number.isFinite(value) ? 'number' : 'other'
  if (Array.isArray(value)) return 'array'
  return isJson(value) ? 'object' : 'other'
}

/** Collects the issues. */
class Reports {
  readonly list: IssueList
  readonly #prefix: readonly string[]
  readonly #reported = new Map<unknown, Set<unknown>>()

  constructor(list: IssueList, prefix: readonly string[]) {
    this.list = list
    this.#prefix = prefix
  }

  get isEmpty(): boolean {
    return this.list.first === undefined
  }

  add(place: Place, message: string): void {
    this.list.add([...this.#prefix, ...segmentsOf(place)], message)
  }

  /**
   * Returns whether nothing has been reported for a schema yet, of a value or of the place of one that can be in several places:
   * several parts of a schema can lead to both.
   */
  isNew(schema: unknown, one: unknown): boolean {
    const reported = this.#reported.get(schema) ?? new Set<unknown>()
    this.#reported.set(schema, reported)
    if (reported.has(one)) return false
    reported.add(one)
    return true
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function holdsUndefined(value: unknown): boolean {
  const left = [value]
  for (let one = left.pop(); left.length > 0 || one !== undefined; one = left.pop()) {
    if (typeof one !== 'object' || one === null) continue
    for (const part of Array.isArray(one) ? one : Object.values(one)) {
      if (part === undefined) return true
      if (typeof part === 'object') left.push(part)
    }
  }
  return false
}
