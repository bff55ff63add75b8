import type { Problem } from '@pawl/server'
import { type Frame, followFrames } from './frames.ts'
import { CommandError, unreachable } from './problem.ts'

/** What commands read. The shapes are those of the HTTP API, on a store as on a server. */
export interface RunJson {
  readonly id: string
  readonly procedure: string
  readonly version: number
  readonly status: string
  readonly generation: number
  readonly forkedFrom?: { readonly run: string; readonly position: number }
  readonly startedAt: string
  readonly endedAt?: string
  readonly waitingFor: readonly {
    readonly kind: string
    readonly name: string
    readonly ask?: string
    readonly until?: string
  }[]
  readonly failure?: { readonly name: string; readonly message: string; readonly code?: string }
  /** Both sides of a run that does not match its log. */
  readonly stuck?: {
    readonly position?: number
    readonly recorded?: string
    readonly asked?: string
    readonly at?: string
    readonly triedAt?: string
  }
  readonly cancelReason?: string
  readonly progress?: { readonly done: number; readonly total?: number; readonly message?: string }
  readonly parent?: { readonly run: string; readonly position?: number }
  readonly tags: readonly string[]
  readonly startedBy?: string
}

/** What a fork or a retry keeps of a run, and what it does again. */
export interface PreviewJson {
  readonly position?: number
  readonly kept: number
  readonly operations: readonly {
    readonly position: number
    readonly type: string
    readonly name: string
    readonly does: string
    readonly becomes: string
  }[]
  readonly more: number
  readonly undone: readonly string[]
  readonly children: readonly string[]
}

export interface AskJson {
  readonly id: string
  readonly run: string
  readonly procedure: string
  readonly kind: 'approve' | 'input' | 'select' | 'review' | 'escalate' | 'decide'
  readonly status: string
  readonly message: string
  readonly to: readonly string[]
  readonly choices: readonly { readonly value: string; readonly label: string; readonly effect?: string }[]
  readonly risk?: {
    readonly level: string
    readonly reasons?: readonly string[]
    readonly reversible?: boolean
  }
  readonly askedAt: string
  readonly dueAt?: string
  readonly onTimeout?: string
  readonly overdue: boolean
  readonly answer?: { readonly by: string; readonly at: string }
  readonly params?: unknown
  readonly editable?: readonly string[]
  readonly schema?: unknown
  readonly artifact?: unknown
  readonly baseline?: unknown
  readonly initial?: unknown
  readonly error?: { readonly name: string; readonly message: string }
  readonly alternatives?: readonly { readonly label: string; readonly description?: string }[]
  readonly details?: readonly { readonly title: string; readonly body: unknown }[]
  readonly links?: readonly { readonly label: string; readonly url: string }[]
  readonly history?: readonly { readonly step: string; readonly result: unknown }[]
}

/** A version of a procedure that a live worker can execute. */
export interface ProcedureJson {
  readonly name: string
  readonly version: number
  /** The JSON Schema of its input, if it has one. */
  readonly input?: unknown
}

/** Lists have no `state`. */
export interface CheckpointJson {
  readonly id: string
  readonly run: string
  readonly position: number
  readonly name?: string
  readonly createdAt: string
  readonly state?: unknown
}

export interface EntryJson {
  readonly position: number
  readonly type: string
  readonly name: string
  readonly status: string
  readonly result: unknown
  readonly timestamp: string
  readonly duration_ms: number
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
