import { PawlError } from '@pawl/core/storage'

/**
 * Creates the error for a store that cannot be used. All texts are whole sentences.
 * @param next what happens now; '' omits it. Default: the text of the catalogue.
 */
export function unusable(
  what: string,
  remedy: string,
  cause?: unknown,
  next?: string,
): PawlError<'store-unusable'> {
  return new PawlError(
    'store-unusable',
    { remedy },
    { what, remedy, ...(cause === undefined ? {} : { cause }), ...(next === undefined ? {} : { next }) },
  )
}
