import type { TurnOwner } from '../../kernel/turns.ts'
import { turns } from '../turn.ts'
import { governingRun } from './governing-run.ts'
import { refusalOf } from './refusal.ts'

/** What a method does in a turn. Outside turns it is what it was. */
export interface Rule {
  /** How it is called, for the refusal. */
  readonly call: string
  /** What to use, for the refusal. */
  readonly use: string
  /** What it does for a run with determinism 'virtual'; for 'error' it is refused. */
  readonly virtual: (run: TurnOwner, original: Original, args: readonly unknown[], guarded: Method) => unknown
}

/** Calls the original method, with the arguments it was called with or with others. */
export type Original = (args?: readonly unknown[]) => unknown

export type Method = (this: unknown, ...args: readonly unknown[]) => unknown

/**
 * Puts a rule on `target[key]`, wherever on the prototype chain it stands. Returns how to put back what was
 * there, if nobody has replaced it since.
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
  // Name, length, and what hangs on the function, such as setTimeout's promisified form.
  return Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(original))
}

/** Apart from the path outside turns, which stays fast because nothing there holds on to `args`. */
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
