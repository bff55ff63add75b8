import { type RunStatus, runStatuses } from '../../base/words.ts'
import { checkArray, checkName, checkOneOf, refuse } from '../../checks/options.ts'
import {
  anything,
  optional,
  type RowsOf,
  readOptions,
  required,
  type Spec,
  whole,
} from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { RunQuery, RunRow } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { CheckFilter, RunFilter } from '../types.ts'

/** Says which runs are meant. */
interface RunConditions {
  readonly procedure: string | null
  readonly status: RunQuery['statuses']
  readonly tag: string | null
  readonly parent: string | null
  /** Whether only runs with an undo that failed or did not run. */
  readonly rollback: boolean
}

export const conditionOptions: RowsOf<RunConditions> = {
  procedure: optional(checkName, null),
  status: optional(readStatuses, []),
  tag: optional(checkName, null),
  parent: optional(checkName, null),
  rollback: optional(readRollback, false),
} satisfies Spec<Omit<RunFilter, 'limit' | 'cursor'>>

function readRollback(option: string, given: unknown): boolean {
  return checkOneOf(option, given, ['failed']) === 'failed'
}

function readStatuses(option: string, given: unknown): RunQuery['statuses'] {
  const several = Array.isArray(given) ? checkArray(option, given) : [given]
  if (several.length === 0) refuse(option, given, 'Pass at least one status, or omit it for all.')
  return several.map((status) => checkOneOf(option, status, runStatuses))
}

/** Replaying the code of a run whose workers crashed could end this process, so that such a run has to be named. */
const checkedByDefault: readonly RunStatus[] = ['running', 'waiting', 'stuck']
const pageSize = 500

const checkOptions = {
  run: optional(anything),
  exports: optional(anything),
  ...conditionOptions,
  status: optional(readStatuses, checkedByDefault),
  limit: optional(whole(1), Number.POSITIVE_INFINITY),
} satisfies Spec<CheckFilter>

/** Returns the runs to be checked, newest first. @throws PawlError 'option-invalid', 'run-not-found' */
export async function listChecked(
  store: StorePort,
  filter: { readonly [option: string]: unknown },
): Promise<readonly RunRow[]> {
  if (filter['run'] !== undefined) return [await findChecked(store, filter)]
  const options = readOptions('of check', filter, checkOptions, 'the filter of check')
  const { limit: most, procedure, status: statuses, tag, parent, rollback: failedUndo } = options
  const query = { procedure, statuses, tag, parent, failedUndo }
  const rows: RunRow[] = []
  for (let before: number | null = null; rows.length < most; ) {
    const limit = Math.min(pageSize, most - rows.length)
    const page: readonly RunRow[] = await store.runs.list({ ...query, before, limit })
    rows.push(...page)
    if (page.length < limit) break
    before = (page.at(-1) as RunRow).run
  }
  return rows
}

const oneRunOptions = { run: required(checkName) }

async function findChecked(
  store: StorePort,
  filter: { readonly [option: string]: unknown },
): Promise<RunRow> {
  const { run: id } = readOptions('of check', filter, oneRunOptions, 'a filter of check with a run')
  const row = await store.runs.find(id)
  if (row === null) throw new PawlError('run-not-found', { run: id })
  return row
}
