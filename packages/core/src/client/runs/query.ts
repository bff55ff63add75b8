import { type RunStatus, runStatuses } from '../../base/words.ts'
import { checkArray, checkKeys, checkName, checkOneOf, checkWhole, refuse } from '../../checks/options.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { RunQuery, RunRow } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'

/** Reads the conditions of a filter of runs. `of`: the method that it was passed to. */
export function readRunQuery(
  of: string,
  { procedure, status, tag, parent }: { readonly [option: string]: unknown },
): Omit<RunQuery, 'before' | 'limit'> {
  return {
    procedure: procedure === undefined ? null : checkName(`procedure of ${of}`, procedure),
    statuses: readStatuses(of, status),
    tag: tag === undefined ? null : checkName(`tag of ${of}`, tag),
    parent: parent === undefined ? null : checkName(`parent of ${of}`, parent),
  }
}

function readStatuses(of: string, given: unknown): RunQuery['statuses'] {
  if (given === undefined) return []
  const several = Array.isArray(given) ? checkArray(`status of ${of}`, given) : [given]
  if (several.length === 0) refuse(`status of ${of}`, given, 'Pass at least one status, or omit it for all.')
  return several.map((status) => checkOneOf(`status of ${of}`, status, runStatuses))
}

/** Replaying the code of a run whose workers crashed could end this process, so that such a run has to be named. */
const checkedByDefault: readonly RunStatus[] = ['running', 'waiting', 'stuck']
const pageSize = 500

/** Returns the runs to be checked, newest first. @throws PawlError 'option-invalid', 'run-not-found' */
export async function listChecked(
  store: StorePort,
  filter: { readonly [option: string]: unknown },
): Promise<readonly RunRow[]> {
  if (filter['run'] !== undefined) return [await findChecked(store, filter)]
  checkKeys('the filter of check', filter, [
    'run',
    'exports',
    'procedure',
    'status',
    'tag',
    'parent',
    'limit',
  ])
  const most =
    filter['limit'] === undefined
      ? Number.POSITIVE_INFINITY
      : checkWhole('limit of check', filter['limit'], 1, Number.MAX_SAFE_INTEGER)
  const query = readRunQuery('check', { ...filter, status: filter['status'] ?? checkedByDefault })
  const rows: RunRow[] = []
  for (let before: number | null = null; rows.length < most; ) {
    const limit = Math.min(pageSize, most - rows.length)
    const page: readonly RunRow[] = await store.runs({ ...query, before, limit })
    rows.push(...page)
    if (page.length < limit) break
    before = (page.at(-1) as RunRow).run
  }
  return rows
}

async function findChecked(
  store: StorePort,
  filter: { readonly [option: string]: unknown },
): Promise<RunRow> {
  checkKeys('a filter of check with a run', filter, ['run'])
  const id = checkName('run of check', filter['run'])
  const row = await store.find(id)
  if (row === null) throw new PawlError('run-not-found', { run: id })
  return row
}
