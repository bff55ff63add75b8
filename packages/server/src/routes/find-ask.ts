import { type Ask, type Client, PawlError } from '@pawl/core'
import { type FoundAsk, findAskOf } from '@pawl/core/internal'
import type { Rights } from '../auth/rights.ts'
import { readId } from '../json/ids.ts'

/** @throws PawlError 'ask-not-found', also if the identity may not see it */
export async function findAsk(client: Client, rights: Rights, id: string): Promise<Ask> {
  return (await findFull(client, rights, id)).ask
}

/** Finds an ask as {@link findAsk} does, with its row, for an answer. */
export async function findFull(client: Client, rights: Rights, id: string): Promise<FoundAsk> {
  const found = await findAskOf(client, readId(id))
  if (found === null) throw new PawlError('ask-not-found', { ask: readId(id) })
  rights.checkSeen(found.ask)
  return found
}
