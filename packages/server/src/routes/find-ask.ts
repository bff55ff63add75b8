import { type Ask, type Client, PawlError } from '@pawl/core'
import type { Rights } from '../auth/rights.ts'
import { readId } from '../json/ids.ts'

/** @throws PawlError 'ask-not-found', also if the identity may not see it */
export async function findAsk(client: Client, rights: Rights, id: string): Promise<Ask> {
  const ask = await client.inbox.get(readId(id))
  if (ask === null) throw new PawlError('ask-not-found', { ask: readId(id) })
  rights.checkSeen(ask)
  return ask
}
