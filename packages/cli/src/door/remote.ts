import { createDoor, type Door } from './door.ts'

/** Opens a server by its address and a token. */
export function openRemote(url: string, token: string | undefined): Door {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return createDoor(`the server at ${url}`, url.replace(/\/$/, ''), fetch, headers, async () => {})
}
