const addresses = new WeakMap<Request, string>()

/** Notes from which address a request came. Only the Node adapters know it. */
export function noteAddress(request: Request, address: string | undefined): void {
  if (address !== undefined) addresses.set(request, address)
}

/** The address of the peer, or 'unknown' if the server is embedded and the framework does not tell. */
export function addressOf(request: Request): string {
  return addresses.get(request) ?? 'unknown'
}
