import { Alternatives } from './alternatives.ts'
import { isSchemaLike, type Json, listOf, type Rule, type Walk } from './walk.ts'

/** Builds the rules for keywords that apply other schemas to the same value. */
export function inPlaceRules(walk: Walk, schema: Json): readonly Rule[] {
  return [
    ...refRules(walk, schema),
    ...listOf(schema['allOf']).map((part) => walk.nodeOf(part)),
    ...anyOfRules(walk, schema),
    ...oneOfRules(walk, schema),
    ...notRules(walk, schema),
    ...ifRules(walk, schema),
  ]
}

function refRules(walk: Walk, schema: Json): readonly Rule[] {
  const target = walk.targetOf(schema)
  return target === undefined ? [] : [(value, place, trail) => walk.follow(target, value, place, trail)]
}

function anyOfRules(walk: Walk, schema: Json): readonly Rule[] {
  if (!Array.isArray(schema['anyOf'])) return []
  const alternatives = new Alternatives(walk, schema['anyOf'])
  return [
    (value, place, trail) =>
      alternatives.countValid(value, trail, 1) === 1 ||
      (walk.isReporting && alternatives.explain(value, place, trail)),
  ]
}

/** With an undefined value more branches may match here than in the author's library. */
function oneOfRules(walk: Walk, schema: Json): readonly Rule[] {
  if (!Array.isArray(schema['oneOf'])) return []
  const alternatives = new Alternatives(walk, schema['oneOf'])
  return [
    (value, place, trail) => {
      const count = alternatives.countValid(value, trail, 2)
      if (count === 0) return walk.isReporting && alternatives.explain(value, place, trail)
      return (
        count === 1 || walk.hasUndefined || walk.refuse(place, 'must match exactly one of its alternatives')
      )
    },
  ]
}

function notRules(walk: Walk, schema: Json): readonly Rule[] {
  if (!isSchemaLike(schema['not'])) return []
  const node = walk.nodeOf(schema['not'])
  return [
    (value, place, trail) =>
      !walk.isValid(node, value, trail) || walk.hasUndefined || walk.refuse(place, 'is an excluded value'),
  ]
}

function ifRules(walk: Walk, schema: Json): readonly Rule[] {
  if (!isSchemaLike(schema['if'])) return []
  const test = walk.nodeOf(schema['if'])
  const [yes, no] = [walk.nodeOf(schema['then']), walk.nodeOf(schema['else'])]
  return [
    (value, place, trail) =>
      walk.hasUndefined || (walk.isValid(test, value, trail) ? yes : no)(value, place, trail),
  ]
}
