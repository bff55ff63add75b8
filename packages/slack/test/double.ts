import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const signingSecret = 's'.repeat(32)

interface Button {
  readonly type: 'button'
  readonly action_id: string
  readonly value: string
  readonly text: { readonly text: string }
  readonly confirm?: object
}
export interface Message {
  readonly channel: string
  readonly ts: string
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: blocks of any kind
  blocks: readonly any[]
}

/** Slack's Web API on loopback: it keeps messages, is slow or down on demand, and signs the clicks it sends. */
export async function startSlack() {
  const messages: Message[] = []
  const told: string[] = []
  const state = { isDown: false, calls: 0 }
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      state.calls += 1
      if (state.isDown) {
        response.writeHead(503).end()
        return
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(reply(request.url ?? '', JSON.parse(body), request.headers.authorization)))
    })
  })
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any call
  function reply(path: string, body: any, authorization: string | undefined): object {
    if (path === '/told') {
      told.push(body.text)
      return { ok: true }
    }
    if (authorization !== 'Bearer xoxb-1') return { ok: false, error: 'invalid_auth' }
    if (path === '/api/chat.postMessage') {
      const ts = `1700000000.00000${messages.length}`
      messages.push({ channel: body.channel, ts, text: body.text, blocks: body.blocks })
      return { ok: true, ts }
    }
    const found = messages.find(({ ts }) => ts === body.ts)
    if (found === undefined) return { ok: false, error: 'message_not_found' }
    Object.assign(found, { text: body.text, blocks: body.blocks })
    return { ok: true, ts: body.ts }
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const buttonsOf = (message: Message | undefined): readonly Button[] =>
    message?.blocks.flatMap(({ type, elements }) => (type === 'actions' ? elements : [])) ?? []
  return {
    ...{ messages, told, state, buttonsOf, signingSecret, api: `${origin}/api` },
    /** The request that Slack sends when a user presses a button. */
    press(
      message: Message | undefined,
      label: string,
      user: string,
      { comment, ...options }: Signing & { readonly comment?: string } = {},
    ): Request {
      const action = buttonsOf(message).find(({ text }) => text.text === label)
      return signed(
        {
          ...{ type: 'block_actions', user: { id: user, team_id: 'T1' }, response_url: `${origin}/told` },
          actions: [{ type: 'button', action_id: action?.action_id, value: action?.value }],
          state: {
            values: { pawl_comment: { comment: { type: 'plain_text_input', value: comment ?? null } } },
          },
        },
        options,
      )
    },
    /** The request for a message that a user wrote. */
    write: (text: string, user: string): Request =>
      signed({ type: 'event_callback', event: { type: 'message', user, text } }, {}),
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

interface Signing {
  readonly secret?: string
  /** In seconds. */
  readonly age?: number
  /** Changes the body after it was signed. */
  readonly alter?: (body: string) => string
}

function signed(
  payload: object,
  { secret = signingSecret, age = 0, alter = (body) => body }: Signing,
): Request {
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
  const sentAt = Math.floor(Date.now() / 1000) - age
  const mac = createHmac('sha256', secret).update(`v0:${sentAt}:${body}`).digest('hex')
  return new Request('http://127.0.0.1/slack', {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': String(sentAt),
      'x-slack-signature': `v0=${mac}`,
    },
    body: alter(body),
  })
}
