// Arktype's own description of a type is more precise than the JSON Schema it generates.

type Json = { [word: string]: unknown }

/**
 * Removes patterns with flags from the JSON Schema that arktype generated.
 * Arktype drops the flags, so the schema would reject values that the type accepts.
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
      // Without the named patterns the remaining keys cannot be told apart.
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
