import { clipText, repairText } from './text.ts'

/** Describes one problem with a value, and its location. */
export interface Issue {
  /** The path from the root, such as `items[3].price`; empty for the value itself. Maximum length: 200 characters. */
  readonly path: string
  /** Maximum length: 500 characters. */
  readonly message: string
}

/** Holds the problems found in a value. */
export interface Issues {
  /** At most 100 issues. */
  readonly issues: readonly Issue[]
  /** Set if there were more issues than that. */
  readonly more?: true
}

/** The location of a part of a value, innermost key first; null for the value itself. */
export type Place = { readonly within: Place; readonly key: string | number } | null

export function segmentsOf(place: Place): readonly (string | number)[] {
  const keys: (string | number)[] = []
  for (let one = place; one !== null; one = one.within) keys.push(one.key)
  return keys.reverse()
}

const maxIssues = 100
const maxPathLength = 200
const maxMessageLength = 500

/**
 * Collects issues up to a limit on their number and the length of their texts.
 * A value of 2 MiB can have a million issues, and a key can be as long as the value.
 */
export class IssueList {
  readonly #issues: Issue[] = []
  readonly #max: number
  #hasMore = false

  constructor(max: number = maxIssues) {
    this.#max = max
  }

  /** Whether further issues would be discarded. */
  get isFull(): boolean {
    return this.#hasMore
  }

  get first(): Issue | undefined {
    return this.#issues[0]
  }

  get found(): Issues {
    return { ...(this.#hasMore ? { more: true } : {}), issues: this.#issues }
  }

  add(segments: readonly unknown[], message: string): void {
    if (this.#issues.length === this.#max) this.#hasMore = true
    else this.#issues.push(makeIssue(formatPath(segments), message))
  }
}

/** Returns a list with one issue. */
export function oneIssue(path: string, message: string): Issues {
  return { issues: [makeIssue(path, message)] }
}

/** Returns only the issues of a refusal, for the details of an error. */
export function issuesOf({ issues, more }: Issues): Issues {
  return more ? { more, issues } : { issues }
}

/** Prefixes the paths of issues with the name of a part: `amount` of `params` becomes `params.amount`. */
export function issuesIn(part: string, { issues, more }: Issues): Issues {
  const within = (path: string): string =>
    path === '' ? part : `${part}${path.startsWith('[') ? '' : '.'}${path}`
  return issuesOf({
    ...(more ? { more } : {}),
    issues: issues.map(({ path, message }) => makeIssue(within(path), message)),
  })
}

function makeIssue(path: string, message: string): Issue {
  return { path: clipPath(path), message: clipText(message, maxMessageLength) }
}

/** Formats `['items', 3, 'price']` as `items[3].price`. A segment is a key, or an object with a `key`. */
function formatPath(segments: readonly unknown[]): string {
  let path = ''
  for (const segment of segments) {
    const key =
      typeof segment === 'object' && segment !== null ? (segment as { readonly key: unknown }).key : segment
    if (typeof key === 'number') path += `[${key}]`
    else path += (path === '' ? '' : '.') + clipPath(String(key))
  }
  return path
}

/** Truncates a path. Omits the original length, since a truncated path may be truncated again. */
function clipPath(path: string): string {
  return path.length <= maxPathLength ? path : `${repairText(path.slice(0, maxPathLength - 1))}…`
}
