import type { Problem } from '@pawl/server'
import { type Frame, followFrames } from './frames.ts'
import { CommandError, unreachable } from './problem.ts'

// Commands read the shapes of the HTTP API, from a store as from a server.
export type {
  AskJson,
  CheckpointJson,
  LogEntryJson,
  NoticeJson,
  PreviewJson,
  RunFactsJson,
  RunJson,
} from '@pawl/server'

/** A version of a procedure that a live worker can execute. */
export interface ProcedureJson {
  readonly name: string
  readonly version: number
  /** The JSON Schema of its input, if it has one. */
  readonly input?: unknown
}

/** Sends requests to a store or to a server. */
export interface Door {
  readonly where: string
  get<T>(path: string, query?: Readonly<Record<string, string | undefined>>): Promise<T>
  post<T>(path: string, body: unknown, options?: PostOptions): Promise<T>
  delete<T>(path: string): Promise<T>
  /** Reads a file in parts. A file that breaks off ends with an error. */
  download(path: string): Promise<AsyncIterable<Uint8Array>>
  /** Sends a file in parts. */
  upload<T>(path: string, query: PostOptions['query'], parts: AsyncIterable<Uint8Array>): Promise<T>
  /** Reads a stream of events until it ends or `signal` aborts. A lost connection is opened again where it was. */
  follow(path: string, query: PostOptions['query'], signal: AbortSignal): AsyncGenerator<Frame>
  close(): Promise<void>
}

export interface PostOptions {
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly idempotencyKey?: string | undefined
}

type Fetch = (request: Request) => Promise<Response>

export function createDoor(
  where: string,
  base: string,
  fetch: Fetch,
  headers: Readonly<Record<string, string>>,
  close: () => Promise<void>,
): Door {
  const request = async (method: string, path: string, query: PostOptions['query'], init: RequestInit) => {
    const url = new URL(`${base}/v1${path}`)
    for (const [name, value] of Object.entries(query ?? {}))
      if (value !== undefined) url.searchParams.set(name, value)
    const request = new Request(url, { ...init, method, headers: { ...headers, ...init.headers } })
    const reply = await fetch(request).catch((error: Error) => {
      throw unreachable(`${where} cannot be reached: ${causeOf(error)}.`)
    })
    if (!reply.ok) throw new CommandError((await readJson(reply, where)) as Problem)
    return reply
  }
  const send = async <T>(method: string, path: string, query: PostOptions['query'], init: RequestInit) =>
    (await readJson(await request(method, path, query, init), where)) as T
  return {
    where,
    get: (path, query) => send('GET', path, query, {}),
    post: (path, body, { query, idempotencyKey } = {}) =>
      send('POST', path, query, {
        body: JSON.stringify(body),
        headers: {
          'content-type': 'application/json',
          'pawl-via': 'cli',
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
      }),
    delete: (path) => send('DELETE', path, {}, {}),
    async download(path) {
      const { body } = await request('GET', path, {}, {})
      return (body ?? []) as AsyncIterable<Uint8Array>
    },
    upload: (path, query, parts) =>
      send('POST', path, query, {
        body: ReadableStream.from(parts),
        duplex: 'half',
        headers: { 'content-type': 'application/octet-stream', 'pawl-via': 'cli' },
      }),
    follow: (path, query, signal) =>
      followFrames(
        (after) =>
          request('GET', path, query, {
            signal,
            ...(after === undefined ? {} : { headers: { 'last-event-id': after } }),
          }),
        signal,
      ),
    close,
  }
}

/** The path segment of a run or ask id. */
export function segmentOf(id: string): string {
  return /^[A-Za-z0-9._:-]+$/.test(id) && id !== '.' && id !== '..'
    ? id
    : `~${Buffer.from(id).toString('base64url')}`
}

async function readJson(reply: Response, where: string): Promise<unknown> {
  try {
    return await reply.json()
  } catch {
    throw unreachable(`${where} is not a Pawl server: it answered with status ${reply.status} and no JSON.`)
  }
}

function causeOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message
}
