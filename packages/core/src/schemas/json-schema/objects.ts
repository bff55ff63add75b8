import { namesOf, patternsOf } from './scalars.ts'
import { isJson, isSchemaLike, type Json, memberOf, type Node, type Rule, type Walk } from './walk.ts'

type ObjectRule = Rule<Json>

export function objectRules(walk: Walk, schema: Json): readonly ObjectRule[] {
  return [
    ...sizeRules(walk, schema),
    ...requiredRules(walk, schema),
    ...nameRules(walk, schema),
    ...memberRules(walk, schema),
    ...dependentRules(walk, schema),
  ]
}

/** Counts properties. An undefined one counts for the minimum, but not for the maximum. */
function sizeRules(walk: Walk, { minProperties, maxProperties }: Json): readonly ObjectRule[] {
  const rules: ObjectRule[] = []
  if (typeof minProperties === 'number')
    rules.push(
      (value, place) =>
        Object.keys(value).length >= minProperties ||
        walk.refuse(place, `must not have fewer than ${minProperties} properties`),
    )
  if (typeof maxProperties === 'number')
    rules.push(
      (value, place) =>
        countDefined(value) <= maxProperties ||
        walk.refuse(place, `must not have more than ${maxProperties} properties`),
    )
  return rules
}

function countDefined(value: Json): number {
  return Object.values(value).filter((member) => member !== undefined).length
}

function requiredRules(walk: Walk, schema: Json): readonly ObjectRule[] {
  const names = namesOf(schema['required'])
  return names.length === 0 ? [] : [requireAll(walk, names, 'is missing')]
}

function requireAll(walk: Walk, names: readonly string[], message: string): ObjectRule {
  return (value, place) => {
    let isValid = true
    for (const name of names) {
      if (memberOf(value, name) !== undefined) continue
      isValid = walk.refuse(walk.inside(place, name), message)
      if (walk.isOver) break
    }
    return isValid
  }
}

function nameRules(walk: Walk, schema: Json): readonly ObjectRule[] {
  const { propertyNames } = schema
  if (!isSchemaLike(propertyNames)) return []
  const node = walk.nodeOf(propertyNames)
  return [
    (value, place) => {
      let isValid = true
      for (const name of Object.keys(value)) {
        if (walk.isValid(node, name, null)) continue
        const reason = walk.isReporting ? walk.describe(node, name, null) : ''
        isValid = walk.refuse(walk.inside(place, name), `has an invalid name: it ${reason}`)
        if (walk.isOver) break
      }
      return isValid
    },
  ]
}

// ── members

/** Applies `properties`, `patternProperties` and `additionalProperties` to the members they cover. */
function memberRules(walk: Walk, schema: Json): readonly ObjectRule[] {
  const named = new Map(
    Object.entries(Object(schema['properties'])).map(([name, inner]) => [name, walk.nodeOf(inner)]),
  )
  const patterns = patternsOf(schema).map(([pattern, inner]) => [pattern, walk.nodeOf(inner)] as const)
  const others = isSchemaLike(schema['additionalProperties']) ? schema['additionalProperties'] : true
  const rules: ObjectRule[] = []
  if (named.size > 0) rules.push(checkNamed(walk, named))
  if (patterns.length > 0 || others !== true)
    rules.push(
      checkOthers(
        walk,
        named,
        patterns,
        others === true ? null : others === false ? 'none' : walk.nodeOf(others),
      ),
    )
  return rules
}

function checkNamed(walk: Walk, named: ReadonlyMap<string, Node>): ObjectRule {
  return (value, place) => {
    let isValid = true
    for (const [name, node] of named) {
      if (walk.part(node, memberOf(value, name), place, name)) continue
      isValid = false
      if (walk.isOver) break
    }
    return isValid
  }
}

/** Checks the members that no other keyword covers, including undefined ones, with `others`. */
function checkOthers(
  walk: Walk,
  named: ReadonlyMap<string, Node>,
  patterns: readonly (readonly [RegExp, Node])[],
  others: Node | 'none' | null,
): ObjectRule {
  const check = (value: Json, name: string, place: Parameters<ObjectRule>[1]): boolean => {
    const matching = patterns.filter(([pattern]) => pattern.test(name))
    if (matching.length === 0) {
      if (others === null || named.has(name)) return true
      if (others === 'none') return walk.refuse(walk.inside(place, name), 'is not expected')
      return walk.part(others, value[name], place, name)
    }
    let isValid = true
    for (const [, node] of matching) isValid = walk.part(node, value[name], place, name) && isValid
    return isValid
  }
  return (value, place) => {
    let isValid = true
    for (const name of Object.keys(value)) {
      if (check(value, name, place)) continue
      isValid = false
      if (walk.isOver) break
    }
    return isValid
  }
}

// ── rules that depend on the presence of a member

/** Supports `dependencies`, the keyword of earlier drafts for both of the others. */
function dependentRules(walk: Walk, schema: Json): readonly ObjectRule[] {
  const { dependentRequired, dependentSchemas, dependencies } = schema
  const all = [dependentRequired, dependentSchemas, dependencies].filter(isJson).flatMap(Object.entries)
  return all.map(([name, needed]): ObjectRule => {
    const rule = Array.isArray(needed)
      ? requireAll(walk, namesOf(needed), `is missing; it is required if ${name} is present`)
      : walk.nodeOf(needed)
    return (value, place, trail) => memberOf(value, name) === undefined || rule(value, place, trail)
  })
}
