import type { AskRow } from '../../ports/store/asks.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { Connection } from '../connection.ts'

/** Finds an ask by its id or its address. */
export async function findAsk({ askIds }: Connection, store: StorePort, id: string): Promise<AskRow | null> {
  const place = askIds.read(id)
  if (place === null) return null
  return 'runKey' in place ? store.askOf(place.runKey, place.position) : store.ask(place.run, place.position)
}
