/** Explains each pair of sibling folders whose files import each other, with one import of either way. */
export function explainMutualFolders(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const found = new Map<string, string>()
  for (const [file, targets] of graph)
    for (const target of targets) {
      const pair = siblingFolders(file, target)
      if (pair && !found.has(pair.join(' '))) found.set(pair.join(' '), `${file} -> ${target}`)
    }
  return [...found].flatMap(([pair, example]) => {
    const [from, to] = pair.split(' ') as [string, string]
    const back = found.get(`${to} ${from}`)
    return back === undefined || from > to ? [] : [`${from} and ${to} import each other: ${example}, ${back}`]
  })
}

/** The two different folders of one folder in which a file and its target lie; undefined if there are none. */
function siblingFolders(file: string, target: string): readonly [string, string] | undefined {
  const [from, to] = [file.split('/'), target.split('/')]
  const depth = from.findIndex((name, index) => name !== to[index]) + 1
  const isFolder = depth > 0 && depth < from.length && depth < to.length
  return isFolder ? [from.slice(0, depth).join('/'), to.slice(0, depth).join('/')] : undefined
}
