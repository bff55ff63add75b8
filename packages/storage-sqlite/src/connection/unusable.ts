import { PawlError } from '@pawl/core/storage'

/** Why a store cannot be used, and what to do about it. Both are whole sentences. */
export function unusable(what: string, remedy: string, cause?: unknown): PawlError<'store-unusable'> {
  return new PawlError(
    'store-unusable',
    { remedy },
    { what, remedy, ...(cause === undefined ? {} : { cause }) },
  )
}
