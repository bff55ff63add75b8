import { clipText, repairText } from './text.ts'

/** What is wrong with a value, and where. */
export interface Issue {
  /** From the outside in, such as `items[3].price`; empty for the value itself. At most 200 characters. */
  readonly path: string
  /** At most 500 characters. */
  readonly message: string
}

/** All that is wrong with a value, as far as it is kept. */
export interface Issues {
  /** At most 100. */
  readonly issues: readonly Issue[]
  /** Present if there are more issues than those. */
  readonly more?: true
}

/** Where a part is in a value, from the inside out; null for the value itself. */
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
 * Collects issues until there are enough. Their number and the length of their texts have a limit: a value of 2 MiB can
 * have a million faults, and its keys can be as long as the value.
 */
export class IssueList {
  readonly #issues: Issue[] = []
  readonly #max: number
  #hasMore = false

  constructor(max: number = maxIssues) {
    this.#max = max
  }

  /** Whether another issue would change nothing. */
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

/** One issue, as all that is wrong. */
export function oneIssue(path: string, message: string): Issues {
  return { issues: [makeIssue(path, message)] }
}

/** What of a refusal is about the value: for the details of an error. */
export function issuesOf({ issues, more }: Issues): Issues {
  return more ? { more, issues } : { issues }
}

/** Issues of a part of a value as issues of the value: `amount` of `params` is `params.amount`. */
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

/** `['items', 3, 'price']` as `items[3].price`. A segment is a key, or an object that holds one. */
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

/** Its length is not told: a part that was cut can be cut once more. */
function clipPath(path: string): string {
  return path.length <= maxPathLength ? path : `${repairText(path.slice(0, maxPathLength - 1))}…`
}
