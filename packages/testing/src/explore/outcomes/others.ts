import { PawlError } from '@pawl/core'
import { encode, failureOf, type OperationByKind, recordFailure } from '@pawl/core/internal'
import { brief, done, failing, type ListOutcomes } from './outcome.ts'

/** A notice is recorded as it is. */
export const listNoticeOutcomes: ListOutcomes<OperationByKind['hitl_notification']> = ({ operation }) => [
  { label: `notice ${operation.notice.message}`, failed: false, payload: encode(operation.notice, 'notice') },
]

/** A message to another run is delivered. */
export const listSendOutcomes: ListOutcomes<OperationByKind['send']> = ({ operation }) => [
  { label: `${operation.name} is sent`, failed: false, payload: null },
]

/** A reply is recorded. */
export const listReplyOutcomes: ListOutcomes<OperationByKind['reply']> = ({ operation }) => [
  { label: `${operation.name} is answered`, failed: false, payload: null },
]

/** A checkpoint is recorded. */
export const listCheckpointOutcomes: ListOutcomes<OperationByKind['checkpoint']> = ({
  operation,
  position,
}) => {
  const { name, state } = operation
  return [done(`checkpoint ${name}`, { id: position.toString(16).padStart(16, '0'), state })]
}

/** A child is created; what it does is not explored. */
export const listSpawnOutcomes: ListOutcomes<OperationByKind['spawn']> = ({ operation, position }) => {
  const id = operation.child.id ?? `explored.${position}`
  return [done(`${operation.name} is started`, { id })]
}

/** Another run ends as the double in `steps` says that has its procedure's name or, for `get`, its id. */
export const listResultOutcomes: ListOutcomes<OperationByKind['child' | 'result']> = async (
  { operation },
  { doubles },
) => {
  const called = await doubles.callRun(operation.name)
  return called.map(({ failed, value }) => {
    const label = `${operation.name} ends with ${brief(value)}`
    if (!failed) return { label, failed: false, payload: encode(value, 'result') }
    const cause = failureOf(recordFailure(value))
    return failing(`${operation.name} fails`, new PawlError('run-failed', { run: operation.name, cause }))
  })
}
