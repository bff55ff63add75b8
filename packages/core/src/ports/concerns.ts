import { PawlError } from '../errors/pawl-error.ts'
import type { OptionalConcerns } from './store/store.ts'

/** Returns a concern that a store may lack. @throws PawlError 'feature-missing' */
export function concernOf<Name extends keyof OptionalConcerns>(
  store: Partial<OptionalConcerns>,
  name: Name,
): OptionalConcerns[Name] {
  const concern = store[name]
  if (concern === undefined) throw new PawlError('feature-missing', { feature: name })
  return concern
}
