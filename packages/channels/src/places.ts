import type { Client } from '@pawl/core'
import { readPlace } from './names.ts'

/**
 * Returns the number in the feed at which the newest delivery of a procedure was started; undefined if there is none.
 * Deliveries are started in the order of their numbers.
 */
export async function findPlace(client: Client, procedure: string): Promise<number | undefined> {
  const { items } = await client.list({ procedure, limit: 1 })
  const [newest] = items
  return newest === undefined ? undefined : readPlace(newest.tags)
}
