import { createDoor, type Door } from './door.ts'
import { usageError } from './problem.ts'

/** Opens a server by its address and a token. */
export function openRemote(url: string, token: string | undefined): Door {
  // The part before the host may be a token or a password, also without a scheme.
  const shown = url.replace(/^.*@/s, '***@')
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!/^https?:$/.test(parsed?.protocol ?? ''))
    throw usageError(`The server must be an address such as http://127.0.0.1:4747, not ${shown}.`)
  if (parsed?.username || parsed?.password)
    throw usageError(
      `The address of the server must have no user and no password: ${shown}. Put its token in PAWL_TOKEN.`,
    )
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return createDoor(`the server at ${url}`, url.replace(/\/$/, ''), fetch, headers, async () => {})
}
