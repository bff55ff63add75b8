import { noteCallSite } from '../call-site.ts'
import { promiseThenNative } from '../natives.ts'
import type { Original, Rule } from './method.ts'

/** Reports that a timer set in a run's turn has fired. */
type Fired = () => void

/** Sets a timer with `original`, calls `fired` when it fires, and returns the result of `original` or an equivalent. */
type Watch = (fired: Fired, original: Original, args: readonly unknown[]) => unknown

/** Allows a timer, since a logger may set one. Reports it if the procedure waits for it, or if it fires. */
function timer(call: string, watch: Watch): Rule {
  return {
    call,
    use: 'ctx.sleep()',
    virtual: (run, original, args, guarded) =>
      watch(once(run.onTimer(call, noteCallSite(guarded))), original, args),
  }
}

/** Watches a timer that calls its first argument. */
export const callbackTimer = (call: string): Rule =>
  timer(call, (fired, original, [callback, ...rest]) => {
    if (typeof callback !== 'function') return original()
    const watched = function (this: unknown, ...given: readonly unknown[]): unknown {
      fired()
      return Reflect.apply(callback, this, given)
    }
    return original([watched, ...rest])
  })

/** Watches a timer that returns a promise; returns another promise, so that a rejection stays the author's to handle. */
export const promisedTimer = (call: string): Rule =>
  timer(call, (fired, original) => tell(fired, original() as Promise<unknown>))

/** Watches a timer that returns an async iterator. */
export const iteratedTimer = (call: string): Rule =>
  timer(call, (fired, original) => {
    const iterator = original() as AsyncIterator<unknown>
    const next = iterator.next
    iterator.next = (...given) => tell(fired, Reflect.apply(next, iterator, given) as ReturnType<typeof next>)
    return iterator
  })

/** Watches a signal that aborts after a time. */
export const abortTimer = (call: string): Rule =>
  timer(call, (fired, original) => {
    const signal = original() as AbortSignal
    signal.addEventListener('abort', fired, { once: true })
    return signal
  })

function tell<Value>(fired: Fired, promise: Promise<Value>): Promise<Value> {
  return Reflect.apply(promiseThenNative, promise, [
    (value: Value) => {
      fired()
      return value
    },
  ]) as Promise<Value>
}

/** Reports only the first call: an interval fires repeatedly. */
function once(fired: Fired): Fired {
  let isFirst = true
  return () => {
    if (isFirst) fired()
    isFirst = false
  }
}
