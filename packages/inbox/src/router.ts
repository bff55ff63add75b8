import { signal } from '@preact/signals'

/** The current screen. It is in the fragment, so that the server needs only one page. */
export type Route =
  | { readonly screen: 'inbox' }
  | { readonly screen: 'ask'; readonly id: string }
  | { readonly screen: 'runs' }
  | { readonly screen: 'run'; readonly id: string }
  | { readonly screen: 'workers' }
  | { readonly screen: 'notices' }

export const route = signal<Route>(readRoute(location.hash))

addEventListener('hashchange', () => {
  route.value = readRoute(location.hash)
})

function readRoute(hash: string): Route {
  const [screen, id] = hash.replace(/^#\/?/, '').split('/').map(decode)
  if (screen === 'asks' && id) return { screen: 'ask', id }
  if (screen === 'runs') return id ? { screen: 'run', id } : { screen: 'runs' }
  if (screen === 'workers' || screen === 'notices') return { screen }
  return { screen: 'inbox' }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export const inboxHref = '#/'
export const runsHref = '#/runs'
export const workersHref = '#/workers'
export const noticesHref = '#/notices'
export const askHref = (id: string): string => `#/asks/${encodeURIComponent(id)}`
export const runHref = (id: string): string => `#/runs/${encodeURIComponent(id)}`

export function go(href: string): void {
  location.hash = href
}
