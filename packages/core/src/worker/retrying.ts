import type { Clock } from '../ports/clock.ts'

/** When a failed task is retried. */
export interface RetryPolicy {
  /** From a failure to the next try. */
  readonly afterMs: number
  /** Whether to try again after this error; logs it in that case. False: it is thrown. */
  readonly isRetried: (error: unknown) => boolean
  /** Whether the outcome no longer matters: then the task is not retried, and the promise never settles. */
  readonly isOver?: () => boolean
  /** Receives a function that calls off the next try; then the promise never settles. */
  readonly onWait?: (callOff: () => void) => void
}

/** Runs a task, and runs it again after each failure that the policy retries. Resolves with its result. */
export async function retrying<Result>(
  clock: Pick<Clock, 'after'>,
  { afterMs, isRetried, isOver, onWait }: RetryPolicy,
  task: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await task()
    } catch (error) {
      if (isOver?.() === true) return new Promise(() => {})
      if (!isRetried(error)) throw error
    }
    await new Promise<void>((resolve) => {
      const callOff = clock.after(afterMs, resolve)
      onWait?.(callOff)
    })
    if (isOver?.() === true) return new Promise(() => {})
  }
}
