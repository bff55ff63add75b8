import { createDoor, type Door } from './door.ts'
import { usageError } from './problem.ts'

/** Opens a server by its address and a token. */
export function openRemote(url: string, token: string | undefined): Door {
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw usageError(`The server must be an address such as http://127.0.0.1:4747, not ${url}.`)
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return createDoor(`the server at ${url}`, url.replace(/\/$/, ''), fetch, headers, async () => {})
}
