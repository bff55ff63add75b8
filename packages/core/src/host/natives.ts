import { AsyncResource } from 'node:async_hooks'
import { randomFillSync } from 'node:crypto'
import { shareCell } from './process/wide.ts'

// Read once per process: fake timers installed later, or the guard itself, must not affect the engine's own clock and
// queue. A copy of the package that is loaded after another has installed its guard gets the natives that the first one
// read.
const natives = shareCell('natives', () => ({
  queueMicrotask,
  setImmediate,
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  promiseThen: Promise.prototype.then,
  dateNow: Date.now,
  performanceNow: performance.now.bind(performance),
  random: Math.random,
  randomFillSync,
}))

export const queueMicrotaskNative: typeof queueMicrotask = natives.queueMicrotask
export const setImmediateNative: typeof setImmediate = natives.setImmediate
export const setTimeoutNative: typeof setTimeout = natives.setTimeout
export const clearTimeoutNative: typeof clearTimeout = natives.clearTimeout
export const setIntervalNative: typeof setInterval = natives.setInterval
export const clearIntervalNative: typeof clearInterval = natives.clearInterval
export const promiseThenNative: typeof Promise.prototype.then = natives.promiseThen
export const dateNow: () => number = natives.dateNow
export const performanceNow: () => number = natives.performanceNow
export const randomNative: () => number = natives.random
export const randomFillSyncNative: typeof randomFillSync = natives.randomFillSync

const root = makeRoot()

/** Runs `body` outside every AsyncLocalStorage of the application, so that live and replayed turns see the same. */
export function inRootContext<R>(body: () => R): R {
  return root.runInAsyncScope(body)
}

/** Returns a function that runs a body in the AsyncLocalStorage context of this call. */
export function keepContext(): <R>(body: () => R) => R {
  const resource = new AsyncResource('PAWL')
  return (body) => resource.runInAsyncScope(body)
}

/**
 * Creates a resource without any storage. Node does not offer one: a resource keeps the storage of the place where it is
 * created, which is a request if the application imports the package in one. So the storage is removed from it: one
 * symbol per storage up to Node 22, a single one since.
 */
function makeRoot(): AsyncResource {
  const resource = new AsyncResource('PAWL')
  for (const symbol of Object.getOwnPropertySymbols(resource)) {
    const kept = symbol.description === 'kResourceStore' || symbol.description === 'context_frame'
    if (kept) Object.defineProperty(resource, symbol, { value: undefined, writable: true })
  }
  return resource
}
