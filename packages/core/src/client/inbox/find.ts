import type { AskRow } from '../../ports/store/asks.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { Connection } from '../connection.ts'
import { showAsk } from '../views/ask.ts'
import type { Ask } from '../views/views.ts'

/** Finds an ask by its id or its address. */
export async function findAsk({ askIds }: Connection, store: StorePort, id: string): Promise<AskRow | null> {
  const place = askIds.read(id)
  if (place === null) return null
  return 'runKey' in place
    ? store.asks.findByRunKey(place.runKey, place.position)
    : store.asks.find(place.run, place.position)
}

/** An ask as stored and as people see it, without its deliveries. */
export interface FoundAsk {
  readonly row: AskRow
  readonly ask: Ask
}

/** Reads an ask by its id, or its address; null if there is none, or if it cannot be read. */
export async function findShown(connection: Connection, id: string): Promise<FoundAsk | null> {
  const store = await connection.begin()
  const row = await findAsk(connection, store, id)
  if (row === null) return null
  // Only a deadline makes the view depend on the time.
  const now = row.dueAt === null && row.closesAt === null ? row.openedAt : await store.now()
  const ask = showAsk(connection, row, now)
  return ask === null ? null : { row, ask }
}
