import { ApiError, OfflineError } from '../api/request.ts'

/** Why a screen has nothing to show. */
export type LoadFailure =
  | { readonly why: 'missing' | 'offline' }
  | { readonly why: 'denied' | 'refused'; readonly detail: string }

/** What a failed request means for the screen that made it. Any other error is a bug, and is thrown. */
export function failureOf(error: unknown): LoadFailure {
  if (error instanceof OfflineError) return { why: 'offline' }
  if (!(error instanceof ApiError)) throw error
  const { status, detail } = error.problem
  if (status === 404) return { why: 'missing' }
  return { why: status === 403 ? 'denied' : 'refused', detail }
}
