import type { TurnOwner } from '../kernel/turns.ts'
import { type BodyOwner, currentBody } from './body.ts'
import { inRootContext } from './natives.ts'
import { installOnce } from './process/wide.ts'
import { turns } from './turn.ts'

/**
 * Keeps exceptions and rejections that escape from procedures and step bodies away from the process.
 * They belong to the run of the turn, or to the step of the body, in which they occur. Other exceptions are unaffected.
 * Returns a function that removes the shield; the last user removes it.
 */
export function installShield(): () => void {
  return installOnce('shield', wrapEmit)
}

type Emit = (this: NodeJS.Process, event: string | symbol, ...details: unknown[]) => boolean

/** Wraps `process.emit`: Node reports all of these through it, and treats `true` as handled. */
function wrapEmit(): () => void {
  const kept = new Keeper()
  const own = Object.getOwnPropertyDescriptor(process, 'emit')
  const emit = process.emit as Emit
  const shielded: Emit = function (...event) {
    return kept.keep(event[0], event[1], event[2]) || Reflect.apply(emit, this, event)
  }
  process.emit = shielded as typeof process.emit

  return () => {
    if (process.emit !== shielded) return // wrapped again since; without turns and bodies this wrapper does nothing
    if (own === undefined) Reflect.deleteProperty(process, 'emit')
    else Object.defineProperty(process, 'emit', own)
  }
}

class Keeper {
  /** The owner that was told of a rejection also has to be told that it was handled later. */
  readonly #unhandled = new WeakMap<object, TurnOwner | BodyOwner>()

  /** Returns whether the event belongs to a run or a step and was delivered to it alone. */
  keep(event: string | symbol, first: unknown, second: unknown): boolean {
    switch (event) {
      case 'uncaughtExceptionMonitor':
        return turns.current !== null || currentBody() !== undefined
      case 'uncaughtException':
        return this.#keepException(first, second)
      case 'unhandledRejection':
        return this.#keepRejection(first, second as object)
      case 'rejectionHandled':
        return this.#keepHandled(first as object)
      default:
        return false
    }
  }

  #keepException(error: unknown, origin: unknown): boolean {
    const run = turns.current
    const body = run === null ? currentBody() : undefined
    if (run === null && body === undefined) return false
    // With --unhandled-rejections=strict a rejection is first reported as an exception.
    if (origin === 'unhandledRejection') return true
    run?.onEscaped(error)
    if (body !== undefined) tell(body, error, 'uncaughtException')
    return true
  }

  #keepRejection(reason: unknown, promise: object): boolean {
    const run = turns.current
    const body = run === null ? currentBody() : undefined
    const owner = run ?? body
    if (owner === undefined) return false
    this.#unhandled.set(promise, owner)
    run?.onUnhandled(promise, reason)
    if (body !== undefined) tell(body, reason, 'unhandledRejection')
    return true
  }

  #keepHandled(promise: object): boolean {
    const owner = this.#unhandled.get(promise) ?? turns.current
    if (owner === null) return false
    if ('onHandled' in owner) owner.onHandled(promise)
    return true
  }
}

/** Notifies outside the body's own context: an error of the notification is the engine's. */
function tell(body: BodyOwner, error: unknown, event: 'uncaughtException' | 'unhandledRejection'): void {
  inRootContext(() => body.onUnhandled(error, event))
}
