/** The length from which an id is shortened in the ids derived from it, which are at most 200 characters long. */
const maxPrefix = 160

/** Returns the id of a child that is not given one. `key`: that of the operation that creates it. */
export function deriveChildId(parent: string, position: number, key: string): string {
  const ending = parent.length > maxPrefix ? key : key.slice(0, 8)
  return `${parent.slice(0, maxPrefix)}.${position}-${ending}`
}
