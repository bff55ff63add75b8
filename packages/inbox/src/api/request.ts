import type { Problem } from '@pawl/server/internal'
import { noteReply, noteSilence } from './connection.ts'

/** A refusal of the server, with its problem document. */
export class ApiError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.problem = problem
  }
}

/** The server was not reached: nothing is known of what was sent. */
export class OfflineError extends Error {}

const base = document.querySelector('meta[name="pawl-base"]')?.getAttribute('content') ?? ''

/** The URL of a path below the place the server is mounted at. */
export function urlOf(path: string): string {
  return `${base}${path}`
}

/** @throws ApiError, OfflineError */
export async function request<T>(
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
): Promise<T> {
  const reply = await send(method, path, body, headers)
  noteReply(reply)
  if (reply.status === 204) return undefined as T
  const isJson = reply.headers.get('content-type')?.includes('json') ?? false
  const content: unknown = isJson ? await reply.json() : undefined
  if (reply.ok && isJson) return content as T
  throw new ApiError((content ?? unknownProblem(reply.status)) as Problem)
}

async function send(method: string, path: string, body: unknown, headers?: object): Promise<Response> {
  try {
    return await fetch(urlOf(path), {
      method,
      credentials: 'same-origin',
      signal: AbortSignal.timeout(20_000),
      ...(body === undefined
        ? {}
        : {
            body: JSON.stringify(body),
            headers: { 'content-type': 'application/json', 'pawl-via': 'inbox', ...headers },
          }),
    })
  } catch (cause) {
    noteSilence()
    throw new OfflineError('', { cause })
  }
}

function unknownProblem(status: number): Problem {
  return { type: '', title: 'internal', status, code: 'internal', detail: `HTTP ${status}` }
}
