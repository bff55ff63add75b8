import type {
  Answer,
  Ask,
  AskBrief,
  LogEntry,
  Me,
  Notice,
  Problem,
  Run,
  State,
  Worker,
} from '@pawl/server/internal'
import { request } from './request.ts'

export interface Page<T> {
  readonly items: readonly T[]
  readonly cursor?: string
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

export const getMe = (): Promise<Me> => request('GET', '/v1/me')
export const logIn = (key: string): Promise<unknown> => request('POST', '/login', { key })
export const logOut = (): Promise<void> => request('POST', '/logout', {})
export const listAsks = (query: Query): Promise<Page<AskBrief>> => request('GET', `/v1/asks${search(query)}`)
/** `capped`: there may be more. */
export const countAsks = (query: Query): Promise<{ readonly count: number; readonly capped: boolean }> =>
  request('GET', `/v1/asks/count${search(query)}`)
export const getAsk = (id: string): Promise<Ask> => request('GET', `/v1/asks/${segment(id)}`)
export const listRuns = (query: Query): Promise<Page<Run>> => request('GET', `/v1/runs${search(query)}`)
/** Gets a run with its input and output. */
export const getRun = (id: string): Promise<Run> => {
  const query = { values: true }
  return request('GET', `/v1/runs/${segment(id)}${search(query)}`)
}
export const retryRun = (id: string): Promise<Run> => request('POST', `/v1/runs/${segment(id)}/retry`, {})
export const cancelRun = (id: string, reason: string | undefined): Promise<Run> =>
  request('POST', `/v1/runs/${segment(id)}/cancel`, reason === undefined ? {} : { reason })
export const retryRuns = (runs: readonly string[]): Promise<Outcomes> =>
  request('POST', '/v1/runs/retry', { runs })
export const cancelRuns = (runs: readonly string[], reason: string | undefined): Promise<Outcomes> =>
  request('POST', '/v1/runs/cancel', reason === undefined ? { runs } : { runs, reason })

/** The result for one run of an action on several. */
export interface Outcome {
  readonly run: string
  readonly status: 'accepted' | 'refused'
  readonly problem?: Problem
}
interface Outcomes {
  readonly outcomes: readonly Outcome[]
}

export function answerAsk(
  { id, digest }: Pick<Ask, 'id' | 'digest'>,
  answer: Answer,
): Promise<{ readonly ask: AskBrief; readonly repeated: boolean }> {
  const query = { digest }
  return request('POST', `/v1/asks/${segment(id)}/answer${search(query)}`, answer)
}

export const listNotices = (query: Query): Promise<Page<Notice>> =>
  request('GET', `/v1/notices${search(query)}`)
export const readNotices = (notices: readonly string[]): Promise<{ readonly read: number }> =>
  request('POST', '/v1/notices/read', { notices })

export interface LogPage {
  readonly items: readonly LogEntry[]
  readonly before?: number
}

export const listWorkers = (): Promise<Page<Worker>> => request('GET', '/v1/workers')
export const getLog = (id: string, query: Query): Promise<LogPage> =>
  request('GET', `/v1/runs/${segment(id)}/log${search(query)}`)

export const listStates = (run: string): Promise<Page<State>> =>
  request('GET', `/v1/runs/${segment(run)}/state`)

/** An id as one segment of a path, as the server reads it: proxies decode `%2F`. */
export function segment(id: string): string {
  if (/^[A-Za-z0-9._:-]+$/.test(id) && !/^\.+$/.test(id)) return id
  const bytes = String.fromCharCode(...new TextEncoder().encode(id))
  return `~${btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`
}

function search(query: Query): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') params.set(name, String(value))
  return params.size === 0 ? '' : `?${params}`
}
