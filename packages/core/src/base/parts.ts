/** Counts the parts of a value, and theirs, up to `max`. Looks at no more of them. Bytes, maps and sets count as one. */
export function countParts(value: unknown, max: number): number {
  let count = 0
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null || ArrayBuffer.isView(part)) return
    for (const key in part) {
      if (count >= max) return
      count++
      visit((part as Readonly<Record<string, unknown>>)[key])
    }
  }
  visit(value)
  return count
}
