import { classify } from '../faults.ts'

// Taken when the package is loaded: the one a procedure finds in its turn may refuse.
const setImmediateNative = setImmediate

interface Call<Key, Row> {
  readonly key: Key
  readonly resolve: (row: Row | null) => void
  readonly reject: (error: unknown) => void
}

/** Rows that are looked up by a key, and what tells keys apart: that of a row is among those asked for. */
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
 * Looks up in one statement what is asked for in one round of the event loop. One hint wakes everybody who
 * waits for a result: a thousand of them cost one statement, not a thousand.
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

/** In parts, none of which weighs more than `max`; but for what weighs more by itself. */
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
