import type { Context } from '../context.ts'
import { type Door, type RunJson, segmentOf } from '../door/door.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { type Out, safe } from '../output/out.ts'
import { showProgress } from '../output/show.ts'

interface Node {
  readonly run: RunJson
  /** The oldest first. */
  readonly children: readonly Node[]
}

/** Maximum number of runs of a tree that are shown. */
const maxRuns = 1_000
const pageSize = '500'

/** Prints a run and all runs below it: as a tree, or as one JSON document. */
export async function showTree({ out }: Context, door: Door, id: string): Promise<ExitStatus> {
  const budget = { left: maxRuns }
  const root = await readNode(door, await door.get<RunJson>(`/runs/${segmentOf(id)}`), budget)
  if (out.json) out.print(JSON.stringify(root))
  else printNode(out, root, '', '')
  if (budget.left <= 0) out.note(`Only ${maxRuns} runs are shown.`)
  return exit.done
}

async function readNode(door: Door, run: RunJson, budget: { left: number }): Promise<Node> {
  budget.left--
  const children: Node[] = []
  for (const child of await readChildren(door, run.id, budget))
    if (budget.left > 0) children.push(await readNode(door, child, budget))
  return { run, children: children.reverse() }
}

/** Newest first. */
async function readChildren(
  door: Door,
  parent: string,
  budget: { left: number },
): Promise<readonly RunJson[]> {
  const found: RunJson[] = []
  let cursor: string | undefined
  do {
    const query = { parent, limit: pageSize, cursor }
    const page: { readonly items: readonly RunJson[]; readonly cursor?: string } = await door.get(
      '/runs',
      query,
    )
    found.push(...page.items)
    cursor = page.cursor
  } while (cursor !== undefined && found.length < budget.left)
  return found
}

/** `first` stands before the run, `rest` before the lines below it. */
function printNode(out: Out, { run, children }: Node, first: string, rest: string): void {
  const { id, procedure, version, status } = run
  const shown = [
    safe(id),
    status,
    out.style('dim', safe(`${procedure} v${version}`)),
    safe(showProgress(run) ?? ''),
  ]
  out.print(first + shown.filter((part) => part !== '').join('  '))
  for (const [index, child] of children.entries()) {
    const isLast = index === children.length - 1
    printNode(out, child, `${rest}${isLast ? '└─ ' : '├─ '}`, `${rest}${isLast ? '   ' : '│  '}`)
  }
}
