import { signal } from '@preact/signals'

/** The current screen. It is in the fragment, so that the server needs only one page. */
export type Route = (
  | { readonly screen: 'inbox' }
  | { readonly screen: 'ask'; readonly id: string }
  | { readonly screen: 'runs' }
  | { readonly screen: 'run'; readonly id: string }
  | { readonly screen: 'workers' }
  | { readonly screen: 'notices' }
) & {
  /** The filter of a list, so that it can be shared and survives a reload. */
  readonly query: Query
}

/** Parameters by name. Defaults are left out. */
export type Query = Readonly<Record<string, string>>

export const route = signal<Route>(readRoute(location.hash))

addEventListener('hashchange', () => {
  route.value = readRoute(location.hash)
})

function readRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?')
  const query = Object.fromEntries(new URLSearchParams(search))
  const [screen, id] = path.split('/').map(decode)
  if (screen === 'asks' && id) return { screen: 'ask', id, query }
  if (screen === 'runs') return id ? { screen: 'run', id, query } : { screen: 'runs', query }
  if (screen === 'workers' || screen === 'notices') return { screen, query }
  return { screen: 'inbox', query }
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

export function withQuery(href: string, query: Query): string {
  const search = new URLSearchParams(query).toString()
  return search === '' ? href : `${href}?${search}`
}

export function go(href: string): void {
  location.hash = href
}
