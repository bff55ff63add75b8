import type { Run } from '@pawl/server/internal'
import { cancelRuns, listRuns, type Outcome, retryRuns } from '../api/calls.ts'
import { isDoable, type RunAction, statusesFor } from './actions.ts'
import type { RunFilter } from './filter.ts'

const mostRuns = 1_000
const pageSize = 500
/** The most that the server takes in one request. */
const batchSize = 100

export interface Counted {
  readonly runs: readonly string[]
  /** Whether the filter has more runs than these. */
  readonly isCapped: boolean
}

/** Lists the runs of a filter that can be acted on. The action is then on these: a run that comes later is not touched. */
export async function countRuns(action: RunAction, filter: RunFilter): Promise<Counted> {
  const status = statusesFor(action, filter.status)
  if (status.length === 0) return { runs: [], isCapped: false }
  const query = { ...queryOf(filter), status: status.join(','), limit: pageSize }
  const found: Run[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await listRuns({ ...query, cursor })
    found.push(...page.items.filter((run) => isDoable(action, run)))
    cursor = page.cursor
    if (cursor === undefined || found.length >= mostRuns) {
      const runs = found.slice(0, mostRuns).map(({ id }) => id)
      return { runs, isCapped: cursor !== undefined || found.length > mostRuns }
    }
  }
}

export function queryOf({ status, procedure, tag }: RunFilter) {
  return {
    status: status || undefined,
    procedure: procedure.trim() || undefined,
    tag: tag.trim() || undefined,
  }
}

/** Acts on runs, a hundred at a time. What has an outcome has it, also if the server is lost half-way. */
export async function actOn(
  action: RunAction,
  runs: readonly string[],
  reason: string | undefined,
  onOutcomes: (outcomes: readonly Outcome[]) => void,
): Promise<void> {
  for (let from = 0; from < runs.length; from += batchSize) {
    const batch = runs.slice(from, from + batchSize)
    const { outcomes } = await (action === 'retry' ? retryRuns(batch) : cancelRuns(batch, reason))
    onOutcomes(outcomes)
  }
}
