import type { TurnOwner } from '../../kernel/turns.ts'
import { turns } from '../turn.ts'
import { governingRun } from './governing-run.ts'
import { refusalOf } from './refusal.ts'

/** What a method does in a turn. Outside turns it is unchanged. */
export interface Rule {
  /** The name of the call, for the error. */
  readonly call: string
  /** The replacement, for the error. */
  readonly use: string
  /** Implements the call for a run with determinism 'virtual'; with 'error' it throws. */
  readonly virtual: (run: TurnOwner, original: Original, args: readonly unknown[], guarded: Method) => unknown
}

/** Calls the original method, with the original arguments or with others. */
export type Original = (args?: readonly unknown[]) => unknown

export type Method = (this: unknown, ...args: readonly unknown[]) => unknown

/**
 * Applies a rule to `target[key]`, wherever it is on the prototype chain.
 * Returns a function that restores the original, unless it has been replaced since.
 */
export function guardMethod(target: object, key: string, rule: Rule): () => void {
  const holder = findHolder(target, key)
  const descriptor = holder && Object.getOwnPropertyDescriptor(holder, key)
  const original: unknown = Reflect.get(target, key)
  if (!descriptor || typeof original !== 'function') return () => {}

  const guarded = makeGuarded(original as Method, rule)
  Object.defineProperty(holder, key, { value: guarded, writable: true })
  return () => {
    if (Object.getOwnPropertyDescriptor(holder, key)?.value === guarded)
      Object.defineProperty(holder, key, descriptor)
  }
}

function makeGuarded(original: Method, rule: Rule): Method {
  const guarded: Method = function (...args) {
    return turns.current === null
      ? Reflect.apply(original, this, args)
      : answer(rule, original, this, args, guarded)
  }
  // Name, length, and properties of the function, such as setTimeout's promisified form.
  return Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(original))
}

/** Separate from the path outside turns, which stays fast because it does not retain `args`. */
function answer(
  rule: Rule,
  original: Method,
  self: unknown,
  args: readonly unknown[],
  guarded: Method,
): unknown {
  const callOriginal = (given = args): unknown => Reflect.apply(original, self, given)
  const run = governingRun()
  if (run === null) return callOriginal()
  if (run.determinism === 'error') throw refusalOf(rule.call, rule.use)
  return rule.virtual(run, callOriginal, args, guarded)
}

function findHolder(target: object, key: string): object | null {
  let holder: object | null = target
  while (holder !== null && !Object.hasOwn(holder, key)) holder = Object.getPrototypeOf(holder)
  return holder
}
