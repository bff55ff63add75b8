import type { ProcedureOperation } from '../../authoring/operations.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { OptionalConcerns } from '../../ports/store/store.ts'
import type { ActivityContext } from './activity.ts'
import { failed } from './children/ended.ts'

/** Records a failure that the procedure can catch, if the store lacks the concern of an operation. Returns whether it does. */
export function failIfMissing(
  context: ActivityContext,
  pending: Pending<ProcedureOperation>,
  feature: keyof OptionalConcerns,
): boolean {
  if (!context.lacks(feature)) return false
  context.record(failed(pending, new PawlError('feature-missing', { feature })))
  return true
}
