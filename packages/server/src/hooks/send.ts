import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { FinalError } from '@pawl/core'
import { checkHost, PrivateAddress, publicLookup } from './address.ts'

interface Sent {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly allowPrivate: boolean
  readonly signal: AbortSignal
}

/** Whether an address may receive webhooks: https only, without a login, and public unless `allowPrivate`. Returns what is wrong. */
export function faultOf(address: string, allowPrivate: boolean): string | null {
  if (!URL.canParse(address)) return 'It is not a URL.'
  const url = new URL(address)
  const isHttp = url.protocol === 'http:' && allowPrivate
  if (url.protocol !== 'https:' && !isHttp) return 'It must begin with https:.'
  if (url.username !== '' || url.password !== '') return 'It must not contain a login.'
  try {
    if (!allowPrivate) checkHost(url)
    return null
  } catch (error) {
    return `${(error as Error).message}.`
  }
}

/**
 * Posts a body. Redirects are not followed, and the body of the reply is not read.
 * @returns 'gone' for status 410, after which the receiver wants no more
 * @throws Error for any other status than 2xx, FinalError for an address that is not public
 */
export async function send(sent: Sent): Promise<'delivered' | 'gone'> {
  const fault = faultOf(sent.url, sent.allowPrivate)
  if (fault !== null)
    throw new FinalError(`The address of the hook is refused. ${fault}`, { code: 'hook-refused' })
  const status = await post(sent).catch((error: unknown) => {
    if (error instanceof PrivateAddress)
      throw new FinalError(`The address of the hook is refused: ${error.message}.`, { code: 'hook-refused' })
    throw error
  })
  if (status === 410) return 'gone'
  if (status >= 200 && status < 300) return 'delivered'
  throw new Error(`the receiver replied with status ${status}`)
}

function post({ url, headers, body, allowPrivate, signal }: Sent): Promise<number> {
  const start = url.startsWith('https:') ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const request = start(
      url,
      {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'Pawl',
        },
        // A connection of its own: one that is kept alive may lead to an address that was checked for another name.
        agent: false,
        signal,
        ...(allowPrivate ? {} : { lookup: publicLookup }),
      },
      (response) => {
        resolve(response.statusCode ?? 0)
        response.destroy()
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}
