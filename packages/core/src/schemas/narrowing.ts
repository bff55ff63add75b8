import { canonical } from '../base/canonical.ts'

type Json = Readonly<Record<string, unknown>>

/** Words in which input and output may differ although nothing was transformed. */
const ignored: readonly string[] = [
  ...['$schema', '$defs', 'definitions', 'title', 'description', 'examples', 'default', 'required'],
]
const schemasByPlace: readonly string[] = ['properties', 'patternProperties', 'prefixItems', 'allOf']
const schemasOfMany: readonly string[] = ['items', 'additionalProperties', 'propertyNames', 'contains']
const alternatives: readonly string[] = ['anyOf', 'oneOf', 'enum', 'type']

/**
 * Whether `narrow` says all that `wide` says, and perhaps more: what fits the one fits the other. Judged word by word, so
 * that it does not see through what is said in other words. One that says nothing stands for what JSON cannot say, such
 * as a Date: only one that says nothing either is no other than that.
 */
export function isNarrowing(narrow: object, wide: object): boolean {
  return new Comparison(narrow as Json, wide as Json).holds
}

/** Of two JSON Schemas of which parts may lead back to themselves. */
class Comparison {
  readonly #narrowest: Json
  readonly #widest: Json
  /** What was found of each pair; while it is looked at, that nothing speaks against it. */
  readonly #found = new Map<Json, Map<Json, boolean>>()

  constructor(narrowest: Json, widest: Json) {
    this.#narrowest = narrowest
    this.#widest = widest
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
    if ('$ref' in narrow) return this.#isWithin(follow(narrow, this.#narrowest), wide)
    if ('$ref' in wide) return this.#isWithin(narrow, follow(wide, this.#widest))
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

  /** Properties that only the narrow one names: the wide one must take them as unknown. */
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

function follow({ $ref }: Json, root: Json): unknown {
  const path = String($ref).split('/').slice(1)
  const keys = path.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  return keys.reduce<unknown>((part, key) => Object(part)[key], root)
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
