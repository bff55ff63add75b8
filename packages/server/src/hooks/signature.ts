import { createHmac } from 'node:crypto'

/** The secret of a hook, as Standard Webhooks writes it. It follows from the key of the server and the id, and is stored nowhere. */
export function secretOf(key: string, hook: string): string {
  return `whsec_${secretBytes(key, hook).toString('base64')}`
}

function secretBytes(key: string, hook: string): Buffer {
  return createHmac('sha256', key).update(`pawl hook ${hook}`).digest()
}

/** The headers of Standard Webhooks, signed with each key, so that a receiver verifies with the old secret or the new one. */
export function signedHeaders(
  keys: readonly string[],
  hook: string,
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1000))
  const signatures = keys.map((key) => {
    const mac = createHmac('sha256', secretBytes(key, hook)).update(`${id}.${timestamp}.${body}`)
    return `v1,${mac.digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
