import { type Client, createEngine, type Engine, type Logger, type Procedure, procedure } from '@pawl/core'
import { type Auth, createServer, type Identity, type Server, type ServerOptions } from '@pawl/server'
import { memory } from '@pawl/testing'
import { z } from 'zod'
import { credentialOf } from '../../src/auth/credentials.ts'
import { createDispatch, type Dispatch } from '../../src/dispatch.ts'
import { RateLimit } from '../../src/http/limits.ts'
import { ReplyCounts } from '../../src/http/replies.ts'
import { readOptions } from '../../src/options.ts'
import { type StreamTiming, usualTiming } from '../../src/streams/event-stream.ts'
import { OpenStreams } from '../../src/streams/open-streams.ts'

interface Talk {
  signals: { paid: unknown }
}

export const refund: Procedure<{ amount: number }, string, Talk> = procedure(
  {
    name: 'refund',
    input: z.object({ amount: z.number() }),
    output: z.string(),
    signals: { paid: z.unknown() },
  },
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

/** Eight steps whose results are half a mebibyte each. */
export const big: Procedure<undefined, void> = procedure({ name: 'big' }, async (ctx) => {
  for (let n = 0; n < 8; n++) await ctx.step(`step ${n}`, () => 'x'.repeat(2 ** 19))
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
  options: Partial<Omit<ServerOptions, 'client'>> & {
    readonly client?: (engine: Engine) => Client
    readonly procedures?: readonly Procedure<undefined, unknown>[]
  } = {},
): Promise<TestServer> {
  const { client, procedures = [], ...rest } = options
  const engine = await createEngine({
    store: memory(),
    procedures: [refund, long, ...procedures],
    logger: silent,
  })
  const server = createServer({
    client: client ? client(engine) : engine,
    auth: byToken,
    logger: silent,
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

/** The identity of the test whose name is the bearer token. */
export const byToken: Auth = (request) => {
  const token = credentialOf(request)
  return (token !== null && identities[token]) || null
}

/** A server from the inside, with a clock of its own and without limits. */
export function dispatchOf(
  options: ServerOptions,
  {
    now = () => 0,
    perMinute = {},
    timing = {},
  }: {
    readonly now?: () => number
    readonly perMinute?: PerMinute
    readonly timing?: Partial<StreamTiming>
  } = {},
): {
  readonly streams: OpenStreams
  readonly dispatch: Dispatch
  readonly faults: unknown[]
} {
  const { reads = 600, writes = 120, failures = 10 } = perMinute
  const faults: unknown[] = []
  const streams = new OpenStreams()
  const settings = readOptions({ logger: silent, ...options })
  const dispatch = createDispatch({
    settings,
    reads: new RateLimit(reads, now),
    writes: new RateLimit(writes, now),
    failures: new RateLimit(failures, now),
    streams,
    replies: new ReplyCounts(),
    timing: { ...usualTiming, ...timing },
    now,
    report: (_id, error) => faults.push(error),
    stopping: new AbortController().signal,
  })
  return { dispatch, faults, streams }
}

interface PerMinute {
  readonly reads?: number
  readonly writes?: number
  readonly failures?: number
}

export async function send(
  fetch: Server['fetch'],
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: object = {},
): Promise<Called> {
  const reply = await fetch(requestOf(token, method, path, body, headers))
  const text = await reply.text()
  const isJson = reply.headers.get('content-type')?.includes('json') ?? false
  return { status: reply.status, headers: reply.headers, body: isJson ? JSON.parse(text) : text }
}

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

export function requestOf(
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: object = {},
): Request {
  return new Request(`http://127.0.0.1${path}`, {
    method,
    headers: {
      host: '127.0.0.1',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}
