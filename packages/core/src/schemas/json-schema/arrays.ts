import { ItemKeys } from './item-keys.ts'
import { isSchemaLike, type Json, listOf, type Rule, type Walk } from './walk.ts'

type ArrayRule = Rule<readonly unknown[]>

export function arrayRules(walk: Walk, schema: Json): readonly ArrayRule[] {
  return [
    ...lengthRules(walk, schema),
    ...itemRules(walk, schema),
    ...containsRules(walk, schema),
    ...(schema['uniqueItems'] === true ? [uniqueRule(walk)] : []),
  ]
}

function lengthRules(walk: Walk, { minItems, maxItems }: Json): readonly ArrayRule[] {
  const rules: ArrayRule[] = []
  if (typeof minItems === 'number')
    rules.push(
      ({ length }, place) =>
        length >= minItems || walk.refuse(place, `must not have fewer than ${minItems} items`),
    )
  if (typeof maxItems === 'number')
    rules.push(
      ({ length }, place) =>
        length <= maxItems || walk.refuse(place, `must not have more than ${maxItems} items`),
    )
  return rules
}

function itemRules(walk: Walk, schema: Json): readonly ArrayRule[] {
  const first = listOf(schema['prefixItems']).map((item) => walk.nodeOf(item))
  const others = isSchemaLike(schema['items']) ? schema['items'] : true
  if (others === false)
    return [
      (items, place, trail) => {
        if (items.length > first.length)
          return walk.refuse(place, `must not have more than ${first.length} items`)
        return checkItems(walk, first, null)(items, place, trail)
      },
    ]
  if (first.length === 0 && others === true) return []
  return [checkItems(walk, first, others === true ? null : walk.nodeOf(others))]
}

function checkItems(
  walk: Walk,
  first: readonly ReturnType<Walk['nodeOf']>[],
  others: ReturnType<Walk['nodeOf']> | null,
): ArrayRule {
  return (items, place) => {
    const count = others === null ? Math.min(first.length, items.length) : items.length
    let isValid = true
    for (let i = 0; i < count; i++) {
      const node = first[i] ?? others
      if (node === null || walk.part(node, items[i], place, i)) continue
      isValid = false
      if (walk.isOver) break
    }
    return isValid
  }
}

/** Counts matching items. An undefined item may match: it counts for the minimum, but not for the maximum. */
function containsRules(walk: Walk, schema: Json): readonly ArrayRule[] {
  const { contains, minContains, maxContains } = schema
  if (!isSchemaLike(contains)) return []
  const node = walk.nodeOf(contains)
  const min = typeof minContains === 'number' ? minContains : 1
  const max = typeof maxContains === 'number' ? maxContains : Number.POSITIVE_INFINITY
  return [
    (items, place) => {
      let [certain, possible] = [0, 0]
      for (const item of items) {
        if (item === undefined) possible++
        else if (walk.isValid(node, item, null)) certain++
        if (certain > max) return walk.refuse(place, `must not contain more than ${max} valid items`)
      }
      return certain + possible >= min || walk.refuse(place, `must contain at least ${min} valid items`)
    },
  ]
}

function uniqueRule(walk: Walk): ArrayRule {
  const keys = new ItemKeys()
  return (items, place) => {
    if (items.length < 2) return true
    const seen = new Map<string, number>()
    for (let i = 0; i < items.length; i++) {
      const key = keys.of(items[i])
      if (key === null) continue
      const earlier = seen.get(key)
      if (earlier !== undefined)
        return walk.refuse(place, `must not have the same item twice ([${earlier}] and [${i}])`)
      seen.set(key, i)
    }
    return true
  }
}
