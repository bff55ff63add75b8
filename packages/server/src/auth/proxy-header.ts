import { BlockList, isIP } from 'node:net'
import { PawlError } from '@pawl/core'
import { addressOf } from '../http/address.ts'
import type { Auth, Identity } from '../types.ts'

/** The options of `proxyHeader`. */
export interface ProxyHeaderOptions {
  /** Name of the header. @example 'x-forwarded-user' */
  readonly header: string
  /** Addresses of the proxies that set it. Range: IP addresses. @example ['127.0.0.1'] */
  readonly trustProxy: readonly [string, ...string[]]
  /** Returns the identity of the person that the header names; null refuses the request with status 401. */
  readonly identify: (value: string) => Identity | null | Promise<Identity | null>
}

/**
 * Trusts a header set by a proxy at one of these addresses. The proxy must remove the header from what clients send. Needs `listen()`
 * or `toNode()`, since other frameworks do not tell the address of the peer.
 * @throws PawlError 'option-invalid'
 * @example proxyHeader({ header: 'x-user', trustProxy: ['127.0.0.1'], identify: (name) => people.find(name) })
 */
export function proxyHeader({ header, trustProxy, identify }: ProxyHeaderOptions): Auth {
  const trusted = new BlockList()
  for (const address of trustProxy) {
    const version = isIP(address)
    if (version === 0)
      throw new PawlError(
        'option-invalid',
        { option: 'trustProxy', given: address },
        { remedy: 'It must list IP addresses.' },
      )
    trusted.addAddress(address, version === 6 ? 'ipv6' : 'ipv4')
  }
  return async (request) => {
    const address = addressOf(request)?.replace(/^::ffff:/, '') ?? ''
    const version = isIP(address)
    if (version === 0 || !trusted.check(address, version === 6 ? 'ipv6' : 'ipv4')) return null
    const value = request.headers.get(header)
    return value === null || value === '' ? null : identify(value)
  }
}
