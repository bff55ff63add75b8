import { refuse } from '../checks/options.ts'
import type { Check } from '../checks/spec.ts'

/** Encodes a place in a list as an opaque cursor. */
export function writeCursor(place: object): string {
  return btoa(JSON.stringify(place)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Creates a check that decodes a cursor, which is untrusted text. */
export function cursorOf<Place>(isPlace: (value: unknown) => value is Place): Check<Place> {
  return (option, cursor) => readCursor(option, cursor, isPlace)
}

function readCursor<Place>(
  option: string,
  cursor: unknown,
  isPlace: (value: unknown) => value is Place,
): Place {
  const allowed = 'It must be the unchanged cursor of the previous page.'
  if (typeof cursor !== 'string' || cursor.length > 2_000) return refuse(option, cursor, allowed)
  let place: unknown
  try {
    place = JSON.parse(atob(cursor.replaceAll('-', '+').replaceAll('_', '/')))
  } catch {
    return refuse(option, cursor, allowed)
  }
  return isPlace(place) ? place : refuse(option, cursor, allowed)
}
