// What arktype alone tells of its types: their own description, which says more than the JSON Schema it writes of them.

type Json = { [word: string]: unknown }

/**
 * Takes out of the JSON Schema that arktype wrote of a type the patterns with flags: it writes them without, and would
 * refuse values that the type accepts.
 */
export function loosenArktypeJson(type: object, json: unknown): void {
  const flagged = new Set<unknown>()
  visit((type as { readonly json?: unknown }).json, ({ rule, flags }) => {
    if (typeof flags === 'string' && /[imsuv]/.test(flags)) flagged.add(rule)
  })
  if (flagged.size === 0) return
  visit(json, (part) => {
    if (flagged.has(part['pattern'])) delete part['pattern']
    const named = part['patternProperties']
    if (Object.keys(Object(named)).some((name) => flagged.has(name))) {
      // What else may be there nobody can tell without them.
      delete part['patternProperties']
      delete part['additionalProperties']
    }
  })
}

function visit(json: unknown, look: (part: Json) => void): void {
  if (typeof json !== 'object' || json === null) return
  look(json as Json)
  for (const inner of Object.values(json)) visit(inner, look)
}
