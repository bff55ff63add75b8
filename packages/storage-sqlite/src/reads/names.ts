/** A list of names as its column has it; null for text that is none. */
export function readNames(json: string): readonly string[] | null {
  try {
    const names: unknown = JSON.parse(json)
    return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : null
  } catch {
    return null
  }
}
