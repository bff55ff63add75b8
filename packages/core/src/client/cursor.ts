import { refuse } from '../checks/options.ts'

/** A place in a list, as text for whoever pages through it; what it says is nobody's business but ours. */
export function writeCursor(place: object): string {
  return btoa(JSON.stringify(place)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** @throws PawlError 'option-invalid': a cursor is text from outside */
export function readCursor<Place>(
  option: string,
  cursor: unknown,
  isPlace: (value: unknown) => value is Place,
): Place {
  const allowed = 'It must be the cursor of the page before, unchanged.'
  if (typeof cursor !== 'string' || cursor.length > 2_000) return refuse(option, cursor, allowed)
  let place: unknown
  try {
    place = JSON.parse(atob(cursor.replaceAll('-', '+').replaceAll('_', '/')))
  } catch {
    return refuse(option, cursor, allowed)
  }
  return isPlace(place) ? place : refuse(option, cursor, allowed)
}
