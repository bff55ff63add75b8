import type { Context } from '../context.ts'
import { type CheckpointJson, segmentOf } from '../door/door.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { printNamed } from '../output/show.ts'
import { type Column, printRows } from '../output/table.ts'
import { readWhole } from './numbers.ts'

const columns: readonly Column<CheckpointJson>[] = [
  { title: 'CHECKPOINT', of: ({ id }) => id },
  { title: 'RUN', of: ({ run }) => run },
  { title: 'POSITION', of: ({ position }) => String(position) },
  { title: 'NAME', of: ({ name }) => name ?? '-' },
  { title: 'SAVED', of: ({ createdAt }) => createdAt },
]

interface CheckpointPage {
  readonly items: readonly CheckpointJson[]
  readonly cursor?: string
}

/** Lists the checkpoints of a run, or of all runs. */
export async function listCheckpoints(context: Context, run: string | undefined): Promise<ExitStatus> {
  const door = await context.door()
  const found: CheckpointJson[] = []
  for (let cursor: string | undefined; ; ) {
    const page =
      run === undefined
        ? await door.get<CheckpointPage>('/checkpoints', { cursor })
        : await door.get<CheckpointPage>(`/runs/${segmentOf(run)}/checkpoints`)
    found.push(...page.items)
    cursor = page.cursor
    if (cursor === undefined) break
  }
  printRows(context.out, found, columns, 'No checkpoints.')
  return exit.done
}

/** Shows a checkpoint, or the latest one of a run, with its value. */
export async function showCheckpoint(context: Context, id: string): Promise<ExitStatus> {
  const { out } = context
  const door = await context.door()
  const found = await door.get<CheckpointJson>(`/checkpoints/${segmentOf(id)}`)
  if (out.json) out.print(JSON.stringify(found))
  else
    printNamed(out, [
      ...columns.map(({ title, of }) => [title.toLowerCase(), of(found)] as const),
      ['state', found.state === undefined ? '-' : JSON.stringify(found.state)],
    ])
  return exit.done
}

/** Deletes a checkpoint, or all of a run. */
export async function removeCheckpoints(context: Context, id: string): Promise<ExitStatus> {
  const door = await context.door()
  const { deleted } = await door.delete<{ readonly deleted: number }>(`/checkpoints/${segmentOf(id)}`)
  return tell(context.out, deleted)
}

export interface CleanupFlags {
  readonly olderThan?: string
  readonly keep?: string
  readonly onlyFinished?: boolean
}

export async function cleanUpCheckpoints(context: Context, flags: CleanupFlags): Promise<ExitStatus> {
  const { olderThan, keep, onlyFinished } = flags
  const door = await context.door()
  const { deleted } = await door.post<{ readonly deleted: number }>('/checkpoints/cleanup', {
    ...(olderThan === undefined ? {} : { olderThan }),
    ...(keep === undefined ? {} : { keep: readWhole('--keep', keep) }),
    ...(onlyFinished === undefined ? {} : { onlyFinished }),
  })
  return tell(context.out, deleted)
}

function tell(out: Context['out'], deleted: number): ExitStatus {
  if (out.json) out.print(JSON.stringify({ deleted }))
  else out.note(`  ${deleted} ${deleted === 1 ? 'checkpoint is' : 'checkpoints are'} deleted`)
  return exit.done
}
