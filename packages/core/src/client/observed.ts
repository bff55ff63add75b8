import type { TraceContext } from '../events/payloads.ts'
import type { CallObservation, ObservedCall } from '../ports/observer.ts'
import type { Connection } from './connection.ts'

/** Makes a call, and reports it to the observer if there is one. `trace` belongs to a run that the call starts. */
export function observeCall<Result>(
  { observer }: Connection,
  call: ObservedCall,
  make: (trace: TraceContext | undefined) => Promise<Result>,
  describe: (result: Result) => Parameters<CallObservation['done']>[0],
): Promise<Result> {
  if (observer === undefined) return make(undefined)
  const observation = observer.called(call)
  return make(observation.trace).then(
    (result) => {
      observation.done(describe(result))
      return result
    },
    (error: unknown) => {
      observation.failed(error)
      throw error
    },
  )
}
