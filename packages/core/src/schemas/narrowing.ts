import { canonical } from '../base/canonical.ts'
import { References } from './json-schema/references.ts'

type Json = Readonly<Record<string, unknown>>

/** Keywords in which input and output may differ without a transformation. */
const ignored: readonly string[] = [
  ...['$schema', '$defs', 'definitions', 'title', 'description', 'examples', 'default', 'required'],
]
const schemasByPlace: readonly string[] = ['properties', 'patternProperties', 'prefixItems', 'allOf']
const schemasOfMany: readonly string[] = ['items', 'additionalProperties', 'propertyNames', 'contains']
const alternatives: readonly string[] = ['anyOf', 'oneOf', 'enum', 'type']

/**
 * Returns whether `narrow` implies `wide`: every value valid for `narrow` is valid for `wide`.
 * Compares keyword by keyword, so it does not recognize equivalent schemas that use different keywords. An empty schema
 * represents what JSON cannot express, such as a Date, so only an empty schema narrows it.
 */
export function isNarrowing(narrow: object, wide: object): boolean {
  return new Comparison(narrow as Json, wide as Json).holds
}

/** Compares two JSON Schemas that may be recursive. */
class Comparison {
  readonly #narrowest: Json
  readonly #widest: Json
  readonly #narrowReferences: References
  readonly #wideReferences: References
  /** Results by pair. While a pair is being compared, it counts as matching. */
  readonly #found = new Map<Json, Map<Json, boolean>>()

  constructor(narrowest: Json, widest: Json) {
    this.#narrowest = narrowest
    this.#widest = widest
    this.#narrowReferences = new References(narrowest)
    this.#wideReferences = new References(widest)
  }

  get holds(): boolean {
    return isSame(this.#narrowest, this.#widest) || this.#isWithin(this.#narrowest, this.#widest)
  }

  #isWithin(narrow: unknown, wide: unknown): boolean {
    if (narrow === false || narrow === wide) return true
    if (!isObject(narrow) || !isObject(wide)) return false
    const found = this.#found.get(narrow) ?? new Map<Json, boolean>()
    const known = found.get(wide)
    if (known !== undefined) return known
    this.#found.set(narrow, found.set(wide, true))
    const isSo = this.#saysAsMuch(narrow, wide)
    found.set(wide, isSo)
    return isSo
  }

  #saysAsMuch(narrow: Json, wide: Json): boolean {
    if (typeof narrow['$ref'] === 'string') return this.#isWithin(this.#narrowReferences.follow(narrow), wide)
    if (typeof wide['$ref'] === 'string') return this.#isWithin(narrow, this.#wideReferences.follow(wide))
    const words = wordsOf(wide)
    if (words.length === 0) return wordsOf(narrow).length === 0
    return words.every((word) => this.#says(word, narrow, wide)) && this.#addsOnlyWhatFits(narrow, wide)
  }

  #says(word: string, narrow: Json, wide: Json): boolean {
    const [more, less] = [narrow[word], wide[word]]
    if (schemasByPlace.includes(word))
      return Object.entries(Object(less)).every(([place, schema]) =>
        this.#isWithin(Object(more)[place], schema),
      )
    if (schemasOfMany.includes(word)) return this.#isWithin(more ?? {}, less)
    if (!alternatives.includes(word)) return isSame(more, less)
    const [some, all] = [[more].flat(), [less].flat()]
    const fits = (one: unknown, other: unknown): boolean =>
      word.endsWith('Of') ? this.#isWithin(one, other) : isSame(one, other) || isNumber(word, one, other)
    return some.length === all.length && some.every((one) => all.some((other) => fits(one, other)))
  }

  /** Checks properties that only the narrow schema names against the wide schema's `additionalProperties`. */
  #addsOnlyWhatFits(narrow: Json, wide: Json): boolean {
    const others = wide['additionalProperties'] ?? true
    const added = Object.entries(Object(narrow['properties'])).filter(
      ([name]) => !Object.hasOwn(Object(wide['properties']), name),
    )
    return others === true || added.every(([, schema]) => this.#isWithin(schema, others))
  }
}

function wordsOf(json: Json): readonly string[] {
  return Object.keys(json).filter(
    (word) =>
      !ignored.includes(word) && !(word === 'additionalProperties' && typeof json[word] === 'boolean'),
  )
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(canonical(one)) === JSON.stringify(canonical(other))
}

function isNumber(word: string, one: unknown, other: unknown): boolean {
  return word === 'type' && one === 'integer' && other === 'number'
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}
