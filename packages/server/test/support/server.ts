import { type Client, createEngine, type Engine, type Procedure, procedure } from '@pawl/core'
import { createServer, type Identity, type Server, type ServerOptions } from '@pawl/server'
import { memory } from '@pawl/testing'
import { z } from 'zod'

export const refund: Procedure<{ amount: number }, string> = procedure(
  { name: 'refund', input: z.object({ amount: z.number() }), output: z.string() },
  async (ctx, { amount }) => {
    const approval = await ctx.human.approve('Refund {amount} EUR?', {
      params: { amount },
      editable: ['amount'],
      to: 'group:support',
      key: 'approve',
    })
    return approval.approved ? `refunded ${approval.params.amount}` : 'declined'
  },
)

/** Ten steps, one after another. */
export const long: Procedure<undefined, void> = procedure({ name: 'long' }, async (ctx) => {
  for (let n = 0; n < 10; n++) await ctx.step(`step ${n}`, () => n)
})

/** One identity for each bearer token of the tests. */
export const identities: Readonly<Record<string, Identity>> = {
  ana: { actor: 'user:ana', names: ['group:support'], role: 'answer' },
  eve: { actor: 'user:eve', names: ['group:sales'], role: 'answer' },
  wim: { actor: 'user:wim', names: [], role: 'watch' },
  olga: { actor: 'user:olga', names: ['group:support'], role: 'operate' },
  root: { actor: 'user:root', names: [], role: 'admin' },
  bot: { actor: 'user:bot', names: ['group:support'], role: 'operate', actAs: true },
}

export interface TestServer extends AsyncDisposable {
  readonly engine: Engine
  readonly server: Server
  /** Sends a request as the identity of this token. */
  call(token: string | null, method: string, path: string, body?: unknown, headers?: object): Promise<Called>
}

export interface Called {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of any shape
  readonly body: any
}

export async function startServer(
  options: Partial<Omit<ServerOptions, 'client'>> & { readonly client?: (engine: Engine) => Client } = {},
): Promise<TestServer> {
  const { client, ...rest } = options
  const engine = await createEngine({ store: memory(), procedures: [refund, long], logger: silent })
  const server = createServer({
    client: client ? client(engine) : engine,
    auth: (request) => {
      const token = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
      return (token !== undefined && identities[token]) || null
    },
    ...rest,
  })
  return {
    engine,
    server,
    call: (token, method, path, body, headers) => send(server.fetch, token, method, path, body, headers),
    async [Symbol.asyncDispose]() {
      await server.stop()
      await engine.stop()
    },
  }
}

export async function send(
  fetch: Server['fetch'],
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: object = {},
): Promise<Called> {
  const reply = await fetch(
    new Request(`http://127.0.0.1${path}`, {
      method,
      headers: {
        host: '127.0.0.1',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }),
  )
  const text = await reply.text()
  const isJson = reply.headers.get('content-type')?.includes('json') ?? false
  return { status: reply.status, headers: reply.headers, body: isJson ? JSON.parse(text) : text }
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }
