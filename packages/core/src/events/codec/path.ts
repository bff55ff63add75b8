/** A step from a value to a value inside it. */
export type Segment = string | number | { readonly method: 'get' | 'keys' | 'values'; readonly key: unknown }

const maxTextLength = 80
const maxPathLength = 400

/** Formats a path: `result.items[3].fn`, `input["no name"]`, `result.prices.get("A-1").amount`. */
export function showPath(label: string, trail: readonly Segment[]): string {
  const path = label + trail.map(showSegment).join('')
  return path.length <= maxPathLength
    ? path
    : `${path.slice(0, maxPathLength / 2)} … ${path.slice(-maxPathLength / 4)}`
}

function showSegment(segment: Segment): string {
  if (typeof segment === 'number') return `[${segment}]`
  if (typeof segment === 'string')
    return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(segment)
      ? `.${clip(segment)}`
      : `[${quote(segment)}]`
  if (segment.method !== 'get') return `.${segment.method}()[${String(segment.key)}]`
  return `.get(${typeof segment.key === 'string' ? quote(segment.key) : String(segment.key)})`
}

function quote(text: string): string {
  return JSON.stringify(clip(text))
}

function clip(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`
}
