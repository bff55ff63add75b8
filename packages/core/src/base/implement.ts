/**
 * The members of a public type, typed as they are written: methods take unchecked arguments, since users without
 * types call them too. A member that is missing, or that the type does not have, is a type error.
 */
export type Implementation<T> = {
  readonly [K in keyof T]-?: T[K] extends (...args: never) => unknown ? (...args: never[]) => unknown : T[K]
}

/** Holds the only cast from what is built to what is declared. Every facade goes through it. */
export function implement<T>(members: Implementation<T>): T {
  return members as T
}

/** The same for a facade that can be called itself. */
export function implementCallable<T extends (...args: never) => unknown>(
  call: (...args: never[]) => unknown,
  members: Implementation<T>,
): T {
  return Object.assign(call, members) as unknown as T
}
