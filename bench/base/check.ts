import { isDeepStrictEqual } from 'node:util'

/** Whoever did less than was asked is not fast but wrong. */
export function check(what: string, actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected))
    throw new Error(`${what}: ${JSON.stringify(actual)} in place of ${JSON.stringify(expected)}`)
}
