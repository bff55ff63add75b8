import type { Json, JsonObject } from '../api/types.ts'

/** What a person fills in for one part of a value. Parts of a part are made when they are asked for: schemas can be recursive. */
export type Control = Described & Shape

interface Described {
  readonly title?: string
  readonly description?: string
  /** The value to begin with. */
  readonly initial?: Json
}

export interface Option {
  readonly value: Json
  readonly label: string
}

export interface Field {
  readonly name: string
  readonly isRequired: boolean
  /** Whether the form shows its parts from the beginning. */
  readonly isOpened: boolean
  readonly control: () => Control
}

export interface Variant {
  readonly label: string
  readonly control: () => Control
}

type Shape =
  | {
      readonly kind: 'text'
      readonly type: 'text' | 'email' | 'url'
      readonly isLong: boolean
      readonly minLength?: number
      readonly maxLength?: number
    }
  | { readonly kind: 'date' | 'time' | 'date-time' }
  | { readonly kind: 'number'; readonly isInteger: boolean; readonly min?: number; readonly max?: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly options: readonly Option[] }
  | { readonly kind: 'checkboxes'; readonly options: readonly Option[] }
  | { readonly kind: 'object'; readonly fields: readonly Field[] }
  | { readonly kind: 'list'; readonly item: () => Control; readonly min: number; readonly max: number }
  | { readonly kind: 'tuple'; readonly items: readonly (() => Control)[] }
  | { readonly kind: 'record'; readonly item: () => Control }
  | { readonly kind: 'nullable'; readonly inner: () => Control }
  | { readonly kind: 'union'; readonly variants: readonly Variant[] }
  | { readonly kind: 'fixed'; readonly value: Json }
  | { readonly kind: 'marked'; readonly type: 'date' | 'bigint' }
  | { readonly kind: 'json' }

/** Maximum number of fields that open at once. A part with more of them, such as one that has to contain itself, is JSON. */
const maxFields = 2_000
/** Maximum number of levels that open at once. */
const maxLevels = 16
/** Maximum depth of a form, with all that a person opens. Deeper parts are JSON. */
const maxDepth = 64

/** The control of a JSON Schema. What no control can express is a text area of JSON. */
export function controlOf(schema: Json | undefined): Control {
  return buildBounded(schema, { root: schema, depth: 0 })
}

/** The control of one property of an object schema, or null if the schema does not describe it. */
export function propertyControl(schema: Json | undefined, name: string): Control | null {
  const object = resolve(schema, schema)
  const properties = object && isObject(object['properties']) ? object['properties'] : undefined
  return properties && Object.hasOwn(properties, name)
    ? buildBounded(properties[name], { root: schema, depth: 0 })
    : null
}

/** Where a part of a schema is. */
interface Place {
  readonly root: Json | undefined
  readonly depth: number
}

/** Builds a control that is opened by itself: all that opens with it is counted. */
function buildBounded(given: Json | undefined, place: Place): Control {
  const control = build(given, place)
  if (fieldsLeft(control, maxFields) >= 0) return control
  const { title, description, initial } = control
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(initial === undefined ? {} : { initial }),
    kind: 'json',
  }
}

/** Subtracts the fields that open with a control. Stops below 0, and at the deepest level, since a schema can be recursive. */
function fieldsLeft(control: Control, left: number, level = 0): number {
  if (level > maxLevels) return -1
  const subtract = (rest: number, part: () => Control): number =>
    rest < 0 ? rest : fieldsLeft(part(), rest, level + 1)
  switch (control.kind) {
    case 'object': {
      const opened = control.fields.filter((field) => field.isOpened)
      const closed = control.fields.length - opened.length
      return opened.map((field) => field.control).reduce(subtract, left - 1 - closed)
    }
    case 'tuple':
      return control.items.reduce(subtract, left - 1)
    case 'list':
      return Array.from({ length: rowsAtFirst(control) }, () => control.item).reduce(subtract, left - 1)
    default:
      return left - 1
  }
}

/** The rows that a list without a value begins with. */
export function rowsAtFirst({ min }: { readonly min: number }): number {
  return Math.min(min, 100)
}

function build(given: Json | undefined, place: Place): Control {
  const schema = place.depth > maxDepth ? undefined : resolve(given, place.root)
  if (schema === undefined) return { kind: 'json' }
  return { ...describe(schema), ...shapeOf(schema, { root: place.root, depth: place.depth + 1 }) }
}

function shapeOf(schema: JsonObject, place: Place): Shape {
  const within: Within = {
    root: place.root,
    atOnce: (part) => memo(() => build(part, place)),
    onDemand: (part) => memo(() => buildBounded(part, place)),
  }
  if (hasOther(schema)) return { kind: 'json' }
  if ('const' in schema) return { kind: 'fixed', value: schema['const'] ?? null }
  if (Array.isArray(schema['enum'])) return enumShape(schema['enum'])
  const alternatives = (schema['anyOf'] ?? schema['oneOf']) as Json | undefined
  if (Array.isArray(alternatives)) return alternativeShape(alternatives, within)
  if (Array.isArray(schema['type'])) return typesShape(schema, schema['type'], within)
  switch (schema['type']) {
    case 'string':
      return textShape(schema)
    case 'number':
    case 'integer':
      return numberShape(schema)
    case 'boolean':
      return { kind: 'boolean' }
    case 'null':
      return { kind: 'fixed', value: null }
    case 'array':
      return listShape(schema, within)
    case 'object':
      return objectShape(schema, within)
    default:
      return { kind: 'json' }
  }
}

/** Keywords that no control shows: what is entered would be refused, and no field could say why. */
const beyond = [
  ...['allOf', 'not', 'if', 'patternProperties', 'dependentSchemas', 'dependentRequired', 'contains'],
  ...['unevaluatedProperties', 'unevaluatedItems', '$dynamicRef'],
]

function hasOther(schema: JsonObject): boolean {
  if (beyond.some((keyword) => keyword in schema)) return true
  const isCombined = 'anyOf' in schema || 'oneOf' in schema
  return (
    isCombined && ('properties' in schema || 'items' in schema || ('anyOf' in schema && 'oneOf' in schema))
  )
}

function enumShape(values: readonly Json[]): Shape {
  if (values.some((value) => typeof value === 'object' && value !== null)) return { kind: 'json' }
  return { kind: 'choice', options: values.map((value) => ({ value, label: labelOf(value) })) }
}

function textShape(schema: JsonObject): Shape {
  const { format, contentEncoding } = schema
  if (contentEncoding !== undefined) return { kind: 'json' }
  if (format === 'date' || format === 'time' || format === 'date-time') return { kind: format }
  const maxLength = numberOf(schema['maxLength'])
  const minLength = numberOf(schema['minLength'])
  return {
    kind: 'text',
    type: format === 'email' ? 'email' : format === 'uri' ? 'url' : 'text',
    isLong: (maxLength ?? 0) > 120,
    ...(maxLength === undefined ? {} : { maxLength }),
    ...(minLength === undefined ? {} : { minLength }),
  }
}

function numberShape(schema: JsonObject): Shape {
  const min = numberOf(schema['minimum']) ?? numberOf(schema['exclusiveMinimum'])
  const max = numberOf(schema['maximum']) ?? numberOf(schema['exclusiveMaximum'])
  return {
    kind: 'number',
    isInteger: schema['type'] === 'integer',
    // Bounds of every safe integer say nothing.
    ...(min === undefined || min === Number.MIN_SAFE_INTEGER ? {} : { min }),
    ...(max === undefined || max === Number.MAX_SAFE_INTEGER ? {} : { max }),
  }
}

/** Builds the parts of a part: the ones that the form shows with it, and the ones that a person opens. */
interface Within {
  readonly root: Json | undefined
  readonly atOnce: (part: Json | undefined) => () => Control
  readonly onDemand: (part: Json | undefined) => () => Control
}

function listShape(schema: JsonObject, within: Within): Shape {
  const { prefixItems, items } = schema
  if (Array.isArray(prefixItems)) {
    if (items !== undefined && items !== false) return { kind: 'json' }
    return { kind: 'tuple', items: prefixItems.map(within.atOnce) }
  }
  if (items === undefined || items === true || items === false) return { kind: 'json' }
  const item = resolve(items, within.root)
  const options =
    schema['uniqueItems'] === true || schema['minItems'] === undefined ? item?.['enum'] : undefined
  if (Array.isArray(options) && schema['maxItems'] === undefined) {
    const shape = enumShape(options)
    if (shape.kind === 'choice') return { kind: 'checkboxes', options: shape.options }
  }
  const min = numberOf(schema['minItems']) ?? 0
  const max = numberOf(schema['maxItems']) ?? Infinity
  return { kind: 'list', item: min > 0 ? within.atOnce(items) : within.onDemand(items), min, max }
}

function objectShape(schema: JsonObject, within: Within): Shape {
  const { properties, additionalProperties, propertyNames } = schema
  const isOpen = isObject(additionalProperties) && Object.keys(additionalProperties).length > 0
  if (!isObject(properties)) {
    const names = isObject(propertyNames) ? propertyNames['enum'] : undefined
    if (names !== undefined) return { kind: 'json' }
    return isOpen ? { kind: 'record', item: within.onDemand(additionalProperties) } : { kind: 'json' }
  }
  if (isOpen) return { kind: 'json' }
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  if ([...required].some((name) => typeof name !== 'string' || !Object.hasOwn(properties, name)))
    return { kind: 'json' }
  return {
    kind: 'object',
    fields: Object.entries(properties).map(([name, part]) => {
      const isRequired = required.has(name)
      const isOpened = isRequired || resolve(part, within.root)?.['default'] !== undefined
      return { name, isRequired, isOpened, control: isOpened ? within.atOnce(part) : within.onDemand(part) }
    }),
  }
}

function alternativeShape(alternatives: readonly Json[], within: Within): Shape {
  const parts = alternatives.map((part) => resolve(part, within.root))
  if (parts.some((part) => part === undefined)) return { kind: 'json' }
  const known = parts as readonly JsonObject[]
  const nulls = known.filter((part) => part['type'] === 'null' || part['const'] === null)
  const others = known.filter((part) => !nulls.includes(part))
  if (nulls.length > 0 && others.length > 0) {
    const inner = others.length === 1 ? (others[0] ?? null) : { anyOf: others }
    return { kind: 'nullable', inner: within.onDemand(inner) }
  }
  if (known.every((part) => 'const' in part)) return optionsOf(known)
  const tag = tagOf(known)
  return {
    kind: 'union',
    variants: known.map((part, index) => ({
      label: tag === null ? variantLabel(part, index) : tagLabel(part, tag),
      control: within.onDemand(part),
    })),
  }
}

function optionsOf(parts: readonly JsonObject[]): Shape {
  if (parts.some(({ const: value }) => typeof value === 'object' && value !== null)) return { kind: 'json' }
  return {
    kind: 'choice',
    options: parts.map((part) => ({
      value: part['const'] ?? null,
      label: typeof part['title'] === 'string' ? part['title'] : labelOf(part['const'] ?? null),
    })),
  }
}

/** The property that has another const in each alternative. */
function tagOf(parts: readonly JsonObject[]): string | null {
  const first = parts[0]?.['properties']
  if (!isObject(first)) return null
  for (const name of Object.keys(first)) {
    const values = parts.map((part) => {
      const property = isObject(part['properties']) ? part['properties'][name] : undefined
      return isObject(property) ? property['const'] : undefined
    })
    if (values.every((value) => value !== undefined) && new Set(values).size === parts.length) return name
  }
  return null
}

function tagLabel(part: JsonObject, tag: string): string {
  if (typeof part['title'] === 'string') return part['title']
  const property = isObject(part['properties']) ? part['properties'][tag] : undefined
  return labelOf(isObject(property) ? (property['const'] ?? null) : null)
}

function variantLabel(part: JsonObject, index: number): string {
  if (typeof part['title'] === 'string') return part['title']
  return typeof part['type'] === 'string' ? part['type'] : `${index + 1}`
}

function typesShape(schema: JsonObject, types: readonly Json[], within: Within): Shape {
  return alternativeShape(
    types.map((type) => ({ ...schema, type })),
    within,
  )
}

/** The control of a value without a schema: an edit keeps its type. */
export function controlOfValue(value: Json | undefined): Control {
  switch (typeof value) {
    case 'string':
      return { kind: 'text', type: 'text', isLong: value.length > 120 || value.includes('\n') }
    case 'number':
      return { kind: 'number', isInteger: false }
    case 'boolean':
      return { kind: 'boolean' }
    default:
      return value === null || value === undefined ? { kind: 'json' } : controlOfObject(value)
  }
}

function controlOfObject(value: readonly Json[] | JsonObject): Control {
  if (Array.isArray(value)) {
    const first: Json | undefined = value[0]
    const isUniform = value.every((item) => typeof item === typeof first)
    if (first === undefined || !isUniform || typeof first === 'object') return { kind: 'json' }
    return { kind: 'list', item: () => controlOfValue(first), min: 0, max: Infinity }
  }
  const object = value as JsonObject
  if ('$pawl' in object) {
    const type = object['$pawl']
    return (type === 'date' || type === 'bigint') && typeof object['value'] === 'string'
      ? { kind: 'marked', type }
      : { kind: 'json' }
  }
  const fields = Object.entries(object).map(([name, part]) => ({
    name,
    isRequired: true,
    isOpened: true,
    control: () => controlOfValue(part),
  }))
  return { kind: 'object', fields }
}

/** Follows `$ref` within the schema; undefined for what cannot be followed. */
function resolve(given: Json | undefined, root: Json | undefined): JsonObject | undefined {
  let schema = given
  for (let steps = 0; steps < 20; steps += 1) {
    if (!isObject(schema)) return undefined
    const { $ref: reference } = schema
    if (reference === undefined) return schema
    if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined
    const { $ref: _, ...beside } = schema
    const target = follow(root, reference.slice(1))
    if (!isObject(target)) return undefined
    schema = { ...target, ...beside }
  }
  return undefined
}

function follow(root: Json | undefined, pointer: string): Json | undefined {
  let part = root
  for (const segment of pointer.split('/').slice(1)) {
    const key = decode(segment).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return undefined
    part = (part as JsonObject)[key]
  }
  return part
}

/** A `%` that encodes nothing is part of a name. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function describe(schema: JsonObject): Described {
  const { title, description, default: initial } = schema
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(initial === undefined ? {} : { initial }),
  }
}

function labelOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function memo<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
