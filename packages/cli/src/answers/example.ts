import { resolve, type Schema, toSchema } from './json-schema.ts'

/** Maximum depth of an example: a schema can contain itself. */
const maxDepth = 5
/** Maximum number of parts of an example: a schema can contain itself many times. */
const maxParts = 200

/** Returns a value that roughly matches a JSON Schema, with the required parts only. Text is `...`. */
export function exampleOf(schema: unknown): unknown {
  return exampleWithin(schema, schema, { above: [], parts: { left: maxParts } })
}

interface Around {
  /** The schemas that contain this one. */
  readonly above: readonly Schema[]
  /** The parts that the example may still have. */
  readonly parts: { left: number }
}

function exampleWithin(schema: unknown, root: unknown, { above, parts }: Around): unknown {
  const found = resolve(schema, root)
  parts.left -= 1
  if (found === undefined || above.length > maxDepth || parts.left < 0) return '...'
  const within = [...above, found]
  const exampleOfPart = (part: unknown) => exampleWithin(part, root, { above: within, parts })
  const { const: only, enum: values, default: usual, anyOf, oneOf } = found
  if (usual !== undefined) return usual
  if (only !== undefined) return only
  if (Array.isArray(values)) return values[0]
  const choices = [anyOf ?? oneOf ?? []].flat() as readonly unknown[]
  if (choices.length > 0) {
    // A choice that contains itself has no end.
    const ending = choices.find((choice) => !within.some((one) => one === resolve(choice, root)))
    return exampleOfPart(ending ?? choices[0])
  }
  switch ([found['type']].flat()[0]) {
    case 'object':
      return Object.fromEntries(requiredOf(found).map(([name, of]) => [name, exampleOfPart(of)]))
    case 'array':
      if (Array.isArray(found['prefixItems'])) return found['prefixItems'].map(exampleOfPart)
      return Number(found['minItems'] ?? 0) > 0 ? [exampleOfPart(found['items'])] : []
    case 'number':
    case 'integer':
      return typeof found['minimum'] === 'number' ? found['minimum'] : 1
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return '...'
  }
}

/** Names what a value of a schema needs: the required fields of an object, or else its type. */
export function describeNeeds(schema: unknown): string {
  const found = resolve(schema, schema)
  if (found === undefined) return ''
  if (found['type'] !== 'object') return typeOf(found, schema)
  return requiredOf(found)
    .map(([name, of]) => `${name} (${typeOf(resolve(of, schema) ?? {}, schema)})`)
    .join(', ')
}

function requiredOf(schema: Schema): readonly (readonly [name: string, schema: unknown])[] {
  const required = Array.isArray(schema['required']) ? (schema['required'] as readonly unknown[]) : []
  const properties = Object.entries(toSchema(schema['properties']) ?? {})
  // Callers may omit a property with a default.
  return properties.filter(([name, of]) => required.includes(name) && toSchema(of)?.['default'] === undefined)
}

function typeOf(schema: Schema, root: unknown): string {
  const { const: only, enum: values, anyOf, oneOf, type } = schema
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' or ')
  const several = [anyOf ?? oneOf ?? []].flat() as readonly unknown[]
  if (several.length > 0) return several.map((one) => typeOf(resolve(one, root) ?? {}, {})).join(' or ')
  const types = [type].flat().filter((one) => typeof one === 'string')
  return types.length === 0 ? 'any value' : types.join(' or ')
}
