/** Parses a column of names. Returns null if it is not a list of names. */
export function readNames(json: string): readonly string[] | null {
  try {
    const names: unknown = JSON.parse(json)
    return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : null
  } catch {
    return null
  }
}
