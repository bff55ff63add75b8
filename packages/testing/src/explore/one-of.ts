const outcomes = new WeakMap<object, readonly unknown[]>()

/**
 * Gives `explore` several outcomes of one step or agent. Elsewhere the double returns the first.
 * @example
 * steps: { stock: oneOf(0, 3) }
 */
export function oneOf<R>(first: R, ...others: readonly R[]): () => R {
  const double = (): R => first
  outcomes.set(double, [first, ...others])
  return double
}

/** Returns the outcomes of a double; a double that `oneOf` did not make is its only one. */
export function outcomesOf(double: unknown): readonly unknown[] {
  return (typeof double === 'function' ? outcomes.get(double) : undefined) ?? [double]
}
