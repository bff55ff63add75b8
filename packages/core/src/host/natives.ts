import { AsyncLocalStorage } from 'node:async_hooks'

// Read once, when the package is loaded, and never looked up again: fake timers installed later, or the
// guard itself, must not reach the engine's own clock and queue.
export const queueMicrotaskNative: typeof queueMicrotask = queueMicrotask
export const setImmediateNative: typeof setImmediate = setImmediate
export const setTimeoutNative: typeof setTimeout = setTimeout
export const clearTimeoutNative: typeof clearTimeout = clearTimeout
export const setIntervalNative: typeof setInterval = setInterval
export const clearIntervalNative: typeof clearInterval = clearInterval
export const promiseThenNative: typeof Promise.prototype.then = Promise.prototype.then
export const dateNow: () => number = Date.now
export const performanceNow: () => number = performance.now.bind(performance)

/** Runs `body` outside every AsyncLocalStorage of the application, so that live and replayed turns see the same nothing. */
export const inRootContext: <R>(body: () => R) => R = AsyncLocalStorage.snapshot()
