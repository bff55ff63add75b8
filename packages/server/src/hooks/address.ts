import { type LookupAddress, lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Not reachable from the internet, or not a single host there. */
const closed = new BlockList()
for (const [net, bits] of [
  ...([
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
  ] as const),
  ...([
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
  ] as const),
  ...([
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
  ] as const),
  ...([
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ] as const),
] as const)
  closed.addSubnet(net, bits, 'ipv4')
// Tunnels, which carry an IPv4 address, and documentation.
for (const [net, bits] of [
  ['2001::', 32],
  ['2001:db8::', 32],
  ['2002::', 16],
] as const)
  closed.addSubnet(net, bits, 'ipv6')

const open6 = new BlockList()
open6.addSubnet('2000::', 3, 'ipv6')

/** Whether an address is one that the internet routes to a single host. */
export function isPublic(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !closed.check(address, 'ipv4')
  return version === 6 && open6.check(address, 'ipv6') && !closed.check(address, 'ipv6')
}

/** The host of a URL resolves to an address that is not public. */
export class PrivateAddress extends Error {
  constructor(host: string, address: string) {
    super(`${host} has the address ${address}, which is not public`)
  }
}

/** @throws PrivateAddress for a URL whose host is an address. Names are checked when they are resolved. */
export function checkHost({ hostname }: URL): void {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublic(host)) throw new PrivateAddress(host, host)
}

/**
 * Resolves a name for `http.request`, which connects to the address that was checked: a name cannot resolve to another one in between.
 * Fails if any of its addresses is not public.
 */
export const publicLookup: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) return callback(error, '', 4)
    const refused = addresses.find(({ address }) => !isPublic(address))
    if (refused !== undefined) return callback(new PrivateAddress(host, refused.address), '', 4)
    const [first] = addresses
    if (options.all) return callback(null, addresses)
    callback(null, first?.address ?? '', first?.family ?? 4)
  })
}
