import { type Control, type JsonValue, labelOf, type Option, type Shape } from './control.ts'
import { isJson, type Json } from './walk.ts'

/** Makes the parts of a control. */
export interface Parts {
  /** Returns a part without `$ref`; undefined for what says nothing. */
  readonly follow: (part: unknown) => Json | undefined
  /** The control of a part that the form shows from the beginning. */
  readonly atOnce: (part: unknown) => () => Control
  /** The control of a part that a person opens. */
  readonly onDemand: (part: unknown) => () => Control
}

/** Returns what a person fills in for a schema without `$ref`. */
export function shapeOf(schema: Json, parts: Parts): Shape {
  if (hasOther(schema)) return { kind: 'json' }
  if ('const' in schema) return { kind: 'fixed', value: schema['const'] as JsonValue }
  if (Array.isArray(schema['enum'])) return enumShape(schema['enum'])
  const alternatives = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(alternatives)) return alternativeShape(alternatives, parts)
  if (Array.isArray(schema['type'])) return typesShape(schema, schema['type'], parts)
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
      return listShape(schema, parts)
    case 'object':
      return objectShape(schema, parts)
    default:
      return { kind: 'json' }
  }
}

/** Keywords that no control shows: what is entered would be refused, and no field could say why. */
const beyond = [
  ...['allOf', 'not', 'if', 'patternProperties', 'dependentSchemas', 'dependentRequired', 'contains'],
  ...['unevaluatedProperties', 'unevaluatedItems', '$dynamicRef'],
]

function hasOther(schema: Json): boolean {
  if (beyond.some((keyword) => keyword in schema)) return true
  const isCombined = 'anyOf' in schema || 'oneOf' in schema
  return (
    isCombined && ('properties' in schema || 'items' in schema || ('anyOf' in schema && 'oneOf' in schema))
  )
}

function enumShape(values: readonly unknown[]): Shape {
  return choiceOf(values.map((value) => ({ value: value as JsonValue, label: labelOf(value as JsonValue) })))
}

/** A value with parts is entered as JSON. */
function choiceOf(options: readonly Option[]): Shape {
  if (options.some(({ value }) => typeof value === 'object' && value !== null)) return { kind: 'json' }
  return { kind: 'choice', options }
}

function textShape(schema: Json): Shape {
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

function numberShape(schema: Json): Shape {
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

function listShape(schema: Json, parts: Parts): Shape {
  const { prefixItems, items } = schema
  if (Array.isArray(prefixItems)) {
    if (items !== undefined && items !== false) return { kind: 'json' }
    return { kind: 'tuple', items: prefixItems.map(parts.atOnce) }
  }
  if (items === undefined || items === true || items === false) return { kind: 'json' }
  const item = parts.follow(items)
  const options =
    schema['uniqueItems'] === true || schema['minItems'] === undefined ? item?.['enum'] : undefined
  if (Array.isArray(options) && schema['maxItems'] === undefined) {
    const shape = enumShape(options)
    if (shape.kind === 'choice') return { kind: 'checkboxes', options: shape.options }
  }
  const min = numberOf(schema['minItems']) ?? 0
  const max = numberOf(schema['maxItems']) ?? Infinity
  return { kind: 'list', item: min > 0 ? parts.atOnce(items) : parts.onDemand(items), min, max }
}

function objectShape(schema: Json, parts: Parts): Shape {
  const { properties, additionalProperties, propertyNames } = schema
  const isOpen = isJson(additionalProperties) && Object.keys(additionalProperties).length > 0
  if (!isJson(properties)) {
    const names = isJson(propertyNames) ? propertyNames['enum'] : undefined
    if (names !== undefined) return { kind: 'json' }
    return isOpen ? { kind: 'record', item: parts.onDemand(additionalProperties) } : { kind: 'json' }
  }
  if (isOpen) return { kind: 'json' }
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  if ([...required].some((name) => typeof name !== 'string' || !Object.hasOwn(properties, name)))
    return { kind: 'json' }
  return {
    kind: 'object',
    fields: Object.entries(properties).map(([name, part]) => {
      const isRequired = required.has(name)
      const isOpened = isRequired || parts.follow(part)?.['default'] !== undefined
      return { name, isRequired, isOpened, control: isOpened ? parts.atOnce(part) : parts.onDemand(part) }
    }),
  }
}

function alternativeShape(alternatives: readonly unknown[], parts: Parts): Shape {
  const known = alternatives.map(parts.follow).filter((part) => part !== undefined)
  if (known.length < alternatives.length) return { kind: 'json' }
  const others = known.filter((part) => part['type'] !== 'null' && part['const'] !== null)
  if (others.length > 0 && others.length < known.length)
    return { kind: 'nullable', inner: parts.onDemand(others.length === 1 ? others[0] : { anyOf: others }) }
  if (known.every((part) => 'const' in part)) return optionsOf(known)
  const tag = tagOf(known, parts)
  return {
    kind: 'union',
    variants: known.map((part, index) => ({
      label: variantLabel(part, index, tag === null ? undefined : constantOf(part, tag, parts)),
      control: parts.onDemand(part),
    })),
  }
}

function optionsOf(constants: readonly Json[]): Shape {
  return choiceOf(
    constants.map(({ const: constant, title }) => {
      const value = constant as JsonValue
      return { value, label: typeof title === 'string' ? title : labelOf(value) }
    }),
  )
}

/** The property that has another const in each alternative. */
function tagOf(alternatives: readonly Json[], parts: Parts): string | null {
  const first = alternatives[0]?.['properties']
  if (!isJson(first)) return null
  const isTag = (name: string): boolean => {
    const values = new Set<unknown>()
    for (const one of alternatives) {
      const value = constantOf(one, name, parts)
      if (value === undefined || values.has(value)) return false
      values.add(value)
    }
    return true
  }
  return Object.keys(first).find(isTag) ?? null
}

function constantOf({ properties }: Json, name: string, parts: Parts): unknown {
  const property = isJson(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return parts.follow(property)?.['const']
}

function variantLabel({ title, type }: Json, index: number, tag: unknown): string {
  if (typeof title === 'string') return title
  if (tag !== undefined) return labelOf(tag as JsonValue)
  return typeof type === 'string' ? type : `${index + 1}`
}

function typesShape(schema: Json, types: readonly unknown[], parts: Parts): Shape {
  return alternativeShape(
    types.map((type) => ({ ...schema, type })),
    parts,
  )
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
