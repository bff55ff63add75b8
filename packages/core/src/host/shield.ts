import type { TurnOwner } from '../kernel/turns.ts'
import { type BodyOwner, currentBody } from './body.ts'
import { inRootContext } from './natives.ts'
import { installOnce } from './process/wide.ts'
import { turns } from './turn.ts'

/**
 * Keeps from the process what procedures and step bodies let escape: an exception nobody catches, a rejection
 * nobody handles. It belongs to the run in whose turn, or the step in whose body it happened. What happens
 * elsewhere goes the way it always went. Returns how to take the shield away; it goes with the last who asked.
 */
export function installShield(): () => void {
  return installOnce('shield', wrapEmit)
}

type Emit = (this: NodeJS.Process, event: string | symbol, ...details: unknown[]) => boolean

/** Node tells all of these by `process.emit`, and takes `true` for an answer. */
function wrapEmit(): () => void {
  const kept = new Keeper()
  const own = Object.getOwnPropertyDescriptor(process, 'emit')
  const emit = process.emit as Emit
  const shielded: Emit = function (...event) {
    return kept.keep(event[0], event[1], event[2]) || Reflect.apply(emit, this, event)
  }
  process.emit = shielded as typeof process.emit

  return () => {
    if (process.emit !== shielded) return // somebody has wrapped it since; without turns and bodies ours does nothing
    if (own === undefined) Reflect.deleteProperty(process, 'emit')
    else Object.defineProperty(process, 'emit', own)
  }
}

class Keeper {
  /** Whoever was told of a rejection is the one to be told that it was handled, whenever that is. */
  readonly #unhandled = new WeakMap<object, TurnOwner | BodyOwner>()

  /** Whether the event belongs to a run or a step, and is now theirs alone. */
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
    // With --unhandled-rejections=strict a rejection comes as an exception first, then as itself.
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

/** Outside the body's own context: what goes wrong in the telling is the engine's. */
function tell(body: BodyOwner, error: unknown, event: 'uncaughtException' | 'unhandledRejection'): void {
  inRootContext(() => body.onUnhandled(error, event))
}
