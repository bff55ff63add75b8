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

/** Makes a call on a run that starts none, and reports it to the observer if there is one. */
export function observeAct<Result>(
  connection: Connection,
  act: Pick<ObservedCall, 'verb' | 'run' | 'by'>,
  make: () => Promise<Result>,
): Promise<Result> {
  if (connection.observer === undefined) return make()
  return observeCall(connection, { ...act, procedure: undefined }, make, () => ({}))
}

/** As {@link observeAct}, for a call whose result is read in parts. One that is not read to its end has failed. */
export async function* observeReading<Part>(
  { observer }: Connection,
  act: Pick<ObservedCall, 'verb' | 'run' | 'by'>,
  read: () => AsyncGenerator<Part>,
): AsyncGenerator<Part> {
  const observation = observer?.called({ ...act, procedure: undefined })
  let failure: unknown = new Error('it was not read to its end')
  try {
    yield* read()
    failure = undefined
  } catch (error) {
    failure = error
    throw error
  } finally {
    if (failure === undefined) observation?.done({})
    else observation?.failed(failure)
  }
}
