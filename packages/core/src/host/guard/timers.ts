import { noteCallSite } from '../call-site.ts'
import { promiseThenNative } from '../natives.ts'
import type { Original, Rule } from './method.ts'

/** Tells the run that a timer set in its turn has fired. */
type Fired = () => void

/** Sets a timer by `original`, calls `fired` when it fires, and returns what `original` returns, or its like. */
type Watch = (fired: Fired, original: Original, args: readonly unknown[]) => unknown

/** Allowed, because a logger may well set one; named if the procedure turns out to wait for it, or if it fires. */
function timer(call: string, watch: Watch): Rule {
  return {
    call,
    use: 'ctx.sleep()',
    virtual: (run, original, args, guarded) =>
      watch(once(run.onTimer(call, noteCallSite(guarded))), original, args),
  }
}

/** For a timer that calls its first argument. */
export const callbackTimer = (call: string): Rule =>
  timer(call, (fired, original, [callback, ...rest]) => {
    if (typeof callback !== 'function') return original()
    const watched = function (this: unknown, ...given: readonly unknown[]): unknown {
      fired()
      return Reflect.apply(callback, this, given)
    }
    return original([watched, ...rest])
  })

/** For a timer that returns a promise: another one like it, so that a rejection stays the author's to handle. */
export const promisedTimer = (call: string): Rule =>
  timer(call, (fired, original) => tell(fired, original() as Promise<unknown>))

/** For a timer that returns an async iterator. */
export const iteratedTimer = (call: string): Rule =>
  timer(call, (fired, original) => {
    const iterator = original() as AsyncIterator<unknown>
    const next = iterator.next
    iterator.next = (...given) => tell(fired, Reflect.apply(next, iterator, given) as ReturnType<typeof next>)
    return iterator
  })

/** For a signal that aborts when its time is over. */
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

/** An interval fires again and again. */
function once(fired: Fired): Fired {
  let isFirst = true
  return () => {
    if (isFirst) fired()
    isFirst = false
  }
}
