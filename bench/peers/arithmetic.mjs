export const add = (sum, i) => sum + i

/** What the numbers of so many steps add up to. */
export function sumOf(steps) {
  return steps === 0 ? 0 : (steps * (steps - 1)) / 2
}

/** The smallest value that `share` of all do not exceed. */
export function quantileOf(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
}

/** Whoever did less than was asked is not fast but wrong. */
export function check(what, actual, expected) {
  if (actual !== expected)
    throw new Error(`${what}: ${JSON.stringify(actual)} in place of ${JSON.stringify(expected)}`)
}
