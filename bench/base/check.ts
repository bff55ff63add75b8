import { isDeepStrictEqual } from 'node:util'

/** Fails if less work was done than requested. */
export function check(what: string, actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected))
    throw new Error(`${what}: ${JSON.stringify(actual)} in place of ${JSON.stringify(expected)}`)
}
