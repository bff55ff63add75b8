// Reads parts of a JSON Schema.

export type Schema = { readonly [keyword: string]: unknown }

/** The schema itself, or the one that it refers to; undefined if there is none. */
export function resolve(schema: unknown, root: unknown): Schema | undefined {
  let found = toSchema(schema)
  // A schema can refer to itself.
  for (let hops = 0; found !== undefined && typeof found['$ref'] === 'string'; hops++) {
    if (hops > 20) return undefined
    found = find(root, found['$ref'])
  }
  return found
}

/** What a reference within the document, such as `#/$defs/person`, points to. */
function find(root: unknown, reference: string): Schema | undefined {
  if (!reference.startsWith('#')) return undefined
  let at: unknown = root
  for (const segment of reference.slice(1).split('/').slice(1)) {
    const key = decode(segment).replaceAll('~1', '/').replaceAll('~0', '~')
    at = Object.hasOwn(Object(at), key) ? Object(at)[key] : undefined
  }
  return toSchema(at)
}

/** A `%` that encodes nothing is part of a name. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The schema without null, if it allows null and one other type. */
export function nullable(schema: Schema): unknown {
  const { anyOf, type } = schema
  if (Array.isArray(type)) {
    const others = type.filter((one) => one !== 'null')
    return others.length === 1 && type.length === 2 ? { ...schema, type: others[0] } : undefined
  }
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return undefined
  const others = anyOf.filter((one) => toSchema(one)?.['type'] !== 'null')
  return others.length === 1 ? others[0] : undefined
}

export function toSchema(value: unknown): Schema | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : undefined
}
