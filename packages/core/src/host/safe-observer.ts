import { catchRejection } from '../base/thenable.ts'
import type { TraceContext } from '../events/payloads.ts'
import type { Logger } from '../ports/logger.ts'
import type { AttemptObservation, CallObservation, Observer } from '../ports/observer.ts'

/** Maximum bytes of a trace context, which is part of the first event of a run. */
const maxTraceBytes = 512

/** Wraps an observer, so that its errors are logged once and have no other effect. */
export function makeSafe(observer: Observer, logger: Logger): Observer {
  let isReported = false
  function report(error: unknown): void {
    if (!isReported) logger.error('The observer threw an error, which is ignored', { error })
    isReported = true
  }
  /** A method that returns a promise, which TypeScript allows, has no result. */
  function attempt<Result>(call: () => Result): Result | undefined {
    try {
      const result = call()
      return catchRejection(result, report) ? undefined : result
    } catch (error) {
      report(error)
      return undefined
    }
  }
  const safe = { attempt, report }
  return {
    called: (call) =>
      makeCallSafe(
        safe,
        attempt(() => observer.called(call)),
      ),
    attempted: (one) =>
      makeAttemptSafe(
        safe,
        attempt(() => observer.attempted(one)),
      ),
    created: (child) => attempt(() => observer.created(child)),
    closed: (ask) => attempt(() => observer.closed(ask)),
    ended: (end) => attempt(() => observer.ended(end)),
    committed: (commit) => attempt(() => observer.committed(commit)),
    attached(engine) {
      const detach = attempt(() => observer.attached(engine))
      return () => attempt(() => detach?.())
    },
  }
}

interface Safe {
  attempt<Result>(call: () => Result): Result | undefined
  report(error: unknown): void
}

function makeCallSafe({ attempt }: Safe, call: CallObservation | undefined): CallObservation {
  return {
    trace: attempt(() => checkTrace(call?.trace)),
    done: (outcome) => attempt(() => call?.done(outcome)),
    failed: (error) => attempt(() => call?.failed(error)),
  }
}

function makeAttemptSafe({ attempt, report }: Safe, one: AttemptObservation | undefined): AttemptObservation {
  return {
    run<Result>(body: () => Result): Result {
      let repeat: (() => Result) | null = null
      const once = (): Result => {
        try {
          const result = body()
          repeat = () => result
          return result
        } catch (error) {
          repeat = () => {
            throw error
          }
          return undefined as Result
        }
      }
      attempt(() => {
        const observed: unknown = one?.run(once)
        // The body's own promise is not the observer's.
        if (repeat !== null) catchOwn(observed, repeat, report)
      })
      return (repeat ?? body)()
    },
    recorded: (outcome) => attempt(() => one?.recorded(outcome)),
  }
}

/** Reports the error with which an observer's promise rejects, unless it passes on that of the body. */
function catchOwn(observed: unknown, body: () => unknown, report: (error: unknown) => void): void {
  catchRejection(observed, (error) => {
    const ofBody = new Promise((resolve) => resolve(body()))
    ofBody.then(
      () => report(error),
      (own) => own !== error && report(error),
    )
  })
}

/** Omits what is not a trace context, or a `tracestate` that is too long to keep. */
function checkTrace(trace: TraceContext | undefined): TraceContext | undefined {
  if (trace === undefined || !/^[0-9a-f]{2}(-[0-9a-f]+){3}$/.test(trace.traceparent)) return undefined
  const { traceparent, tracestate = '' } = trace
  const isShort = Buffer.byteLength(traceparent) + Buffer.byteLength(tracestate) <= maxTraceBytes
  return tracestate !== '' && isShort ? { traceparent, tracestate } : { traceparent }
}
