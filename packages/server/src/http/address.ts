const addresses = new WeakMap<Request, string>()

/** Notes the address that a request came from. Only the Node adapters know it. */
export function noteAddress(request: Request, address: string | undefined): void {
  if (address !== undefined) addresses.set(request, address)
}

/** Returns the address of the peer, or null if the server is embedded in a framework that does not tell it. */
export function addressOf(request: Request): string | null {
  return addresses.get(request) ?? null
}

/** Returns `copy`, a request made from `request`, with the address of `request`. */
export function sameAddress(request: Request, copy: Request): Request {
  noteAddress(copy, addresses.get(request))
  return copy
}
