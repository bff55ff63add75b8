/**
 * The members of a public type as they are implemented. Methods take unchecked arguments, since untyped callers can
 * pass anything. A missing or unknown member is a type error.
 */
export type Implementation<T> = {
  readonly [K in keyof T]-?: T[K] extends (...args: never) => unknown ? (...args: never[]) => unknown : T[K]
}

/** Casts an implementation to its declared type. This is the only such cast; every facade uses it. */
export function implement<T>(members: Implementation<T>): T {
  return members as T
}

/** Does the same for a facade that is itself callable. */
export function implementCallable<T extends (...args: never) => unknown>(
  call: (...args: never[]) => unknown,
  members: Implementation<T>,
): T {
  return Object.assign(call, members) as unknown as T
}
