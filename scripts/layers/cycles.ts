/** One cycle of `graph` (first and last are the same), or undefined when it has none. */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>()
  const path: string[] = []

  const walk = (node: string): readonly string[] | undefined => {
    const seenAt = path.indexOf(node)
    if (seenAt >= 0) return [...path.slice(seenAt), node]
    if (done.has(node)) return undefined
    path.push(node)
    for (const next of graph.get(node) ?? []) {
      const cycle = walk(next)
      if (cycle) return cycle
    }
    path.pop()
    done.add(node)
    return undefined
  }

  for (const node of graph.keys()) {
    const cycle = walk(node)
    if (cycle) return cycle
  }
  return undefined
}
