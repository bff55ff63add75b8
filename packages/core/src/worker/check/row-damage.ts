import { checkpointsIn, slotOf } from '../../asks/checkpoints.ts'
import { isEqual } from '../../base/equal.ts'
import { readStarted } from '../../events/read-started.ts'
import type { CheckpointRow } from '../../ports/store/checkpoints.ts'
import type { RunRow } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { LogSource } from '../run/replay-log.ts'

/** The most checkpoints of a run that are compared, the newest. */
const maxCheckpoints = 1_000

/**
 * Compares rows of a run with its log, whose hashes protect it: the link to its parent, and the checkpoints that its events record.
 * Returns what is damaged; null if nothing is. @throws as the pages of the log
 */
export async function findRowDamage(
  { checkpoints }: Pick<StorePort, 'checkpoints'>,
  row: RunRow,
  log: LogSource,
): Promise<string | null> {
  const query = { run: row.run, until: null, before: null, limit: maxCheckpoints }
  const saved = ((await checkpoints?.list(query)) ?? []).filter(({ seq }) => seq === null)
  if (row.parent === null && saved.length === 0) return null
  const recorded = new Map<number, Pick<CheckpointRow, 'name' | 'payload'>>()
  let firstPosition = 0
  for await (const page of log.pages()) {
    const [first] = page
    if (first?.type === 'started') {
      const { parent, generation } = readStarted(first)
      firstPosition = generation?.firstPosition ?? 0
      if (row.parent !== null && !isSameParent(row.parent, parent))
        return 'the link to its parent does not match its log'
    }
    for (const { position, name, payload } of checkpointsIn(page)) recorded.set(position, { name, payload })
    if (saved.length === 0) return null
  }
  const damaged = saved.find(({ slot, position, name, payload }) => {
    // Those of earlier generations are not in this log.
    if (slot === slotOf(position) && position < firstPosition) return false
    return slot !== slotOf(position) || !isEqual(recorded.get(position), { name, payload })
  })
  return damaged === undefined
    ? null
    : `the checkpoint at position ${damaged.position} does not match its log`
}

function isSameParent(
  { run, position }: NonNullable<RunRow['parent']>,
  recorded: { readonly run: string; readonly position: number } | undefined,
): boolean {
  return recorded?.run === run && (position === null || recorded.position === position)
}
