import type { Place } from '../../base/issues.ts'
import { patternsOf } from './scalars.ts'
import {
  isJson,
  isSchemaLike,
  type Json,
  listOf,
  memberOf,
  type Node,
  type Rule,
  type Trail,
  type Walk,
} from './walk.ts'

/**
 * Builds the rules for `unevaluatedProperties` and `unevaluatedItems`.
 * They apply to the parts of a value that no other keyword covers, here or in a matching schema for the same value.
 */
export function unevaluatedRules(walk: Walk, schema: Json): readonly Rule[] {
  const { unevaluatedProperties, unevaluatedItems } = schema
  const rules: Rule[] = []
  if (isSchemaLike(unevaluatedProperties)) {
    const node = walk.nodeOf(unevaluatedProperties)
    rules.push((value, place, trail) => {
      if (!isJson(value)) return true
      const isKnown = propertiesOf(walk, schema, value, trail)
      return checkAll(
        walk,
        node,
        Object.keys(value).filter((name) => !isKnown(name)),
        value,
        place,
      )
    })
  }
  if (isSchemaLike(unevaluatedItems)) {
    const node = walk.nodeOf(unevaluatedItems)
    rules.push((value, place, trail) => {
      if (!Array.isArray(value)) return true
      const isKnown = itemsOf(walk, schema, value, trail)
      const others = [...value.keys()].filter((index) => !isKnown(index))
      return checkAll(walk, node, others, value, place)
    })
  }
  return rules
}

function checkAll(
  walk: Walk,
  node: Node,
  keys: readonly (string | number)[],
  value: object,
  place: Place,
): boolean {
  let isValid = true
  for (const key of keys) {
    if (walk.part(node, (value as { readonly [key: string | number]: unknown })[key], place, key)) continue
    isValid = false
    if (walk.isOver) break
  }
  return isValid
}

function propertiesOf(walk: Walk, schema: Json, value: Json, trail: Trail): (name: string) => boolean {
  const parts = appliedParts(walk, schema, value, trail)
  const isAll = parts.some(
    (part) => 'additionalProperties' in part || (part !== schema && 'unevaluatedProperties' in part),
  )
  const patterns = parts.flatMap((part) => patternsOf(part).map(([pattern]) => pattern))
  return (name) =>
    isAll ||
    parts.some((part) => Object.hasOwn(Object(part['properties']), name)) ||
    patterns.some((pattern) => pattern.test(name))
}

function itemsOf(
  walk: Walk,
  schema: Json,
  value: readonly unknown[],
  trail: Trail,
): (index: number) => boolean {
  const parts = appliedParts(walk, schema, value, trail)
  const isAll = parts.some((part) => 'items' in part || (part !== schema && 'unevaluatedItems' in part))
  const first = Math.max(...parts.map((part) => listOf(part['prefixItems']).length))
  const contained = parts.filter((part) => 'contains' in part).map((part) => walk.nodeOf(part['contains']))
  return (index) => isAll || index < first || contained.some((node) => walk.isValid(node, value[index], null))
}

/** Returns a schema and the schemas that it applies to this value. */
function appliedParts(
  walk: Walk,
  schema: unknown,
  value: unknown,
  trail: Trail,
  seen: Set<unknown> = new Set(),
): readonly Json[] {
  if (!isJson(schema) || seen.has(schema)) return []
  seen.add(schema)
  const { allOf, anyOf, oneOf } = schema
  const isValid = (part: unknown): boolean => walk.isValid(walk.nodeOf(part), value, trail)
  const inner = [
    walk.targetOf(schema),
    ...listOf(allOf),
    ...[...listOf(anyOf), ...listOf(oneOf)].filter(isValid),
    ...conditional(walk, schema, isValid),
    ...dependent(schema, value),
  ]
  return [schema, ...inner.flatMap((part) => appliedParts(walk, part, value, trail, seen))]
}

function conditional(walk: Walk, schema: Json, isValid: (part: unknown) => boolean): readonly unknown[] {
  if (!('if' in schema)) return []
  if (walk.hasUndefined) return [schema['if'], schema['then'], schema['else']]
  return isValid(schema['if']) ? [schema['if'], schema['then']] : [schema['else']]
}

function dependent({ dependentSchemas, dependencies }: Json, value: unknown): readonly unknown[] {
  if (!isJson(value)) return []
  return [dependentSchemas, dependencies]
    .filter(isJson)
    .flatMap(Object.entries)
    .filter(([name]) => memberOf(value, name) !== undefined)
    .map(([, needed]) => needed)
}
