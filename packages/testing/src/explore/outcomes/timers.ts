import { dueAt, type OperationByKind, type SignalOperation } from '@pawl/core/internal'
import { brief, done, type ListOutcomes } from './outcome.ts'

/** A timer ends when it is due. */
export const listTimerOutcomes: ListOutcomes<OperationByKind['timer']> = ({ operation, issuedAt }) => [
  { label: `${operation.name} is over`, failed: false, payload: null, dueAt: dueAt(operation.due, issuedAt) },
]

/** A signal comes with each of the given payloads, or it does not come in time. */
export const listSignalOutcomes: ListOutcomes<SignalOperation> = ({ operation, issuedAt }, { settings }) => {
  const { names, due } = operation
  const come = names.flatMap((name) =>
    (settings.signals.get(name) ?? []).map((payload) =>
      done(payload === undefined ? `signal ${name}` : `signal ${name}: ${brief(payload)}`, { name, payload }),
    ),
  )
  if (due === null) return come
  const label = `no signal ${names.join(' or ')}`
  return [...come, { ...done(label, { timedOut: true }), dueAt: dueAt(due, issuedAt) }]
}
