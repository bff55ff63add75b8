import { classify } from '../faults.ts'

// Captured when the package is loaded: during a procedure's turn the global one throws.
const setImmediateNative = setImmediate

interface Call<Key, Row> {
  readonly key: Key
  readonly resolve: (row: Row | null) => void
  readonly reject: (error: unknown) => void
}

/** A lookup of rows by key, with the function that maps a row to its key. */
export interface Lookup<Key, Row> {
  readonly find: (keys: readonly Key[]) => Promise<readonly Row[]>
  readonly nameOf: (key: Key) => string
  readonly keyOf: (row: Row) => Key
  /** Weight of a key. Default: 1. */
  readonly weightOf?: (key: Key) => number
  /** Maximum weight of one statement. Default: 1,000. */
  readonly max?: number
}

/**
 * Combines all lookups of one event loop turn into one statement. One hint wakes all callers that wait for a result:
 * a thousand of them then cost one statement.
 */
export function batchLookups<Key, Row>({
  find,
  nameOf,
  keyOf,
  weightOf = () => 1,
  max = 1_000,
}: Lookup<Key, Row>): (key: Key) => Promise<Row | null> {
  let waiting: Call<Key, Row>[] = []

  async function answer(calls: readonly Call<Key, Row>[]): Promise<void> {
    try {
      const keys = new Map(calls.map(({ key }) => [nameOf(key), key]))
      const rows = await find([...keys.values()])
      const byName = new Map(rows.map((row) => [nameOf(keyOf(row)), row]))
      for (const { key, resolve } of calls) resolve(byName.get(nameOf(key)) ?? null)
    } catch (error) {
      // An invalid key or an unreadable row must not fail the other calls.
      if (['data', 'final'].includes(classify(error)) && calls.length > 1)
        for (const call of calls) void answer([call])
      else for (const { reject } of calls) reject(error)
    }
  }

  function flush(): void {
    const calls = waiting
    waiting = []
    for (const part of split(calls, ({ key }) => weightOf(key), max)) void answer(part)
  }

  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediateNative(flush)
      waiting.push({ key, resolve, reject })
    })
}

/** Splits keys into parts of at most `max` weight. A heavier key gets a part of its own. */
function split<Item>(
  items: readonly Item[],
  weightOf: (item: Item) => number,
  max: number,
): readonly (readonly Item[])[] {
  const parts: Item[][] = []
  let room = 0
  for (const item of items) {
    const weight = weightOf(item)
    if (parts.length === 0 || weight > room) {
      parts.push([])
      room = max
    }
    parts.at(-1)?.push(item)
    room -= weight
  }
  return parts
}
