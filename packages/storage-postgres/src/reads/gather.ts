import { classify } from '../connection/faults.ts'

// Taken when the package is loaded: the one a procedure finds in its turn may refuse.
const setImmediateNative = setImmediate

/** So many are asked for in one statement. */
const mostAtOnce = 1_000

interface Call<Row> {
  readonly id: string
  readonly resolve: (row: Row | null) => void
  readonly reject: (error: unknown) => void
}

/**
 * Looks up in one statement what is asked for in one round of the event loop. One hint wakes everybody who
 * waits for a result: a thousand of them cost one statement, not a thousand.
 */
export function gather<Row extends { readonly id: string }>(
  findAll: (ids: readonly string[]) => Promise<readonly Row[]>,
): (id: string) => Promise<Row | null> {
  let waiting: Call<Row>[] = []

  async function answer(calls: readonly Call<Row>[]): Promise<void> {
    try {
      const rows = await findAll([...new Set(calls.map(({ id }) => id))])
      const byId = new Map(rows.map((row) => [row.id, row]))
      for (const { id, resolve } of calls) resolve(byId.get(id) ?? null)
    } catch (error) {
      // An id that cannot be one, such as a text with a zero in it, is nobody else's fault.
      if (classify(error) === 'data' && calls.length > 1) for (const call of calls) void answer([call])
      else for (const { reject } of calls) reject(error)
    }
  }

  function flush(): void {
    const calls = waiting
    waiting = []
    for (let at = 0; at < calls.length; at += mostAtOnce) void answer(calls.slice(at, at + mostAtOnce))
  }

  return (id) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediateNative(flush)
      waiting.push({ id, resolve, reject })
    })
}
