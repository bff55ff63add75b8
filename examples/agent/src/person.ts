import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { Ask, Client } from '@pawl/core'
import { createServer, tokens } from '@pawl/server'

/** The inbox of the person who approves, served on 127.0.0.1. */
export interface Desk {
  /** Where the person opens the inbox. */
  readonly url: string
  /** Answers an ask by the API of the inbox, as its page does. */
  approve(ask: Ask, params: object): Promise<void>
  stop(): Promise<void>
}

/** Serves the inbox for one person of the group that is asked. */
export async function openInbox(client: Client, tokenFile: string): Promise<Desk> {
  const key = randomBytes(32).toString('base64url')
  const hash = createHash('sha256').update(key).digest('hex')
  const ana = { hash, actor: 'user:ana', names: ['group:support'], role: 'answer' }
  await writeFile(tokenFile, JSON.stringify({ tokens: [ana] }), { mode: 0o600 })
  const server = createServer({ client, auth: tokens(tokenFile) })
  const { url } = await server.listen({ port: 0 })
  const { origin } = new URL(url)
  return {
    url: `${origin}/#key=${key}`,
    async approve(ask, params) {
      const response = await fetch(`${origin}/v1/asks/${encodeURIComponent(ask.id)}/answer`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ approved: true, params }),
      })
      if (!response.ok) throw new Error(`The answer was refused: ${await response.text()}`)
    },
    stop: () => server.stop(),
  }
}
