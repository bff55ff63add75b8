import { PawlError } from '@pawl/core/storage'

/** Why a store cannot be used, and what to do about it. Both are whole sentences; `next`, of what happens now, may be ''. */
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
