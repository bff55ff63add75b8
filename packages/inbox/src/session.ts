import type { AskBrief, Me } from '@pawl/server/internal'
import { signal } from '@preact/signals'
import { getMe, logIn, logOut } from './api/calls.ts'
import { ApiError } from './api/request.ts'
import { en } from './en.ts'
import { type Grant, grants } from './grants.ts'

export type Session =
  | { readonly state: 'loading' }
  | { readonly state: 'offline' }
  /** `reason` is what the server said to a key that it refused. */
  | { readonly state: 'out'; readonly reason?: string }
  | { readonly state: 'in'; readonly me: Me }

export const session = signal<Session>({ state: 'loading' })

/** Takes the key out of the address bar before anything else reads it, logs in with it, and asks who is there. */
export async function openSession(): Promise<void> {
  const [, key, at] = /^#key=([\w-]+)(?:&at=(\/.*))?$/.exec(location.hash) ?? []
  if (key === undefined) return loadMe()
  history.replaceState(null, '', `${location.pathname}${location.search}`)
  if (at !== undefined) location.replace(`#${at}`)
  return logInWith(key)
}

export async function logInWith(key: string): Promise<void> {
  try {
    await logIn(key)
  } catch (error) {
    session.value =
      error instanceof ApiError ? { state: 'out', reason: refusalOf(error) } : { state: 'offline' }
    return
  }
  await loadMe()
}

/** The server advises callers of its API as well. */
function refusalOf({ problem }: ApiError): string {
  return problem.status === 401 || problem.status === 400 ? en.keyInvalid : problem.detail
}

export async function loadMe(): Promise<void> {
  try {
    session.value = { state: 'in', me: await getMe() }
  } catch (error) {
    session.value = error instanceof ApiError ? { state: 'out' } : { state: 'offline' }
  }
}

export async function endSession(): Promise<void> {
  await logOut().catch(() => {})
  session.value = { state: 'out' }
}

/** The user. Call it below the login only. */
export function currentUser(): Me {
  const { value } = session
  return value.state === 'in' ? value.me : { actor: '', names: [], role: 'watch', actAs: false }
}

/** The grant of the user. */
export function currentGrant(): Grant {
  return grants[currentUser().role]
}

/** Whether an ask is addressed to the user, or to everyone. */
export function isForUser({ to }: Pick<AskBrief, 'to'>): boolean {
  const { actor, names } = currentUser()
  return to.length === 0 || to.some((name) => name === actor || names.includes(name))
}

/** Shows the login if the session has ended; any other error is the caller's. */
export function noteEnded(error: unknown): void {
  if (error instanceof ApiError && error.problem.status === 401) session.value = { state: 'out' }
}
