import { turns } from '../turn.ts'
import { governingRun } from './governing-run.ts'
import { refusalOf } from './refusal.ts'

/**
 * Replaces the global Date with a function that shares its prototype, so that dates of both are instances of both.
 * A subclass does not work, since its dates would have another prototype than earlier ones; a Proxy is slow.
 * `Date.prototype.constructor` changes too: libraries compare dates by it.
 */
export function replaceDate(): () => void {
  const Native = globalThis.Date
  const replacement = makeDate(Native)
  globalThis.Date = replacement
  Native.prototype.constructor = replacement
  return () => {
    if (globalThis.Date !== replacement) return
    globalThis.Date = Native
    if (Native.prototype.constructor === replacement) Native.prototype.constructor = Native
  }
}

function makeDate(Native: DateConstructor): DateConstructor {
  const nativeNow = Native.now

  // Its name; everything else is copied from the native Date below.
  function GuardedDate(...parts: []): Date | string {
    if (new.target === undefined) return new Native(timeOf('Date()', nativeNow)).toString()
    const target = new.target === replacement ? Native : new.target
    if (parts.length > 0 || turns.current === null) return Reflect.construct(Native, parts, target)
    return Reflect.construct(Native, [timeOf('new Date()', nativeNow)], target)
  }
  const replacement = GuardedDate as unknown as DateConstructor

  const now = (): number => (turns.current === null ? nativeNow() : timeOf('Date.now()', nativeNow))
  const statics = Object.getOwnPropertyDescriptors(Native)
  Object.defineProperties(replacement, { ...statics, now: { ...statics.now, value: now } })
  return replacement
}

/** Returns the time of the turn, or the real time outside turns. */
function timeOf(call: string, nativeNow: () => number): number {
  const run = governingRun()
  if (run === null) return nativeNow()
  if (run.determinism === 'error') throw refusalOf(call, 'ctx.now()')
  return run.now()
}
