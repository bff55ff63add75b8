import { decisionDamage, isAsSealed } from '../../asks/decision-digest.ts'
import { docsPage } from '../../base/docs.ts'
import { checkBoolean, checkName } from '../../checks/options.ts'
import { optional, readOptions, type Spec } from '../../checks/spec.ts'
import { concernOf } from '../../ports/concerns.ts'
import type { DecisionQuery, DecisionRow } from '../../ports/store/removals.ts'
import type { Connection } from '../connection.ts'
import { cursorOf, writeCursor } from '../cursor.ts'
import { pageLimit } from '../options.ts'
import type { Page } from '../page.ts'
import type { AskFilter } from '../types.ts'
import { showAsk } from '../views/ask.ts'
import type { Ask } from '../views/views.ts'

const archiveOptions = {
  archived: optional(checkBoolean),
  run: optional(checkName, null),
  procedure: optional(checkName, null),
  limit: pageLimit,
  cursor: optional(cursorOf(isPlace), null),
} satisfies Spec<Pick<AskFilter, 'archived' | 'run' | 'procedure' | 'limit' | 'cursor'>>

/** Lists the answered asks of deleted runs, those of the newest run first. */
export async function listDecisions(
  connection: Connection,
  given: { readonly [name: string]: unknown },
): Promise<Page<Ask>> {
  const label = 'the filter of inbox.list with archived'
  const { run, procedure, limit, cursor } = readOptions('of inbox.list', given, archiveOptions, label)
  const store = await connection.begin()
  const removals = concernOf(store, 'removals')
  const now = await store.now()
  const rows = await removals.decisions({ run, procedure, before: cursor, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    items: page.flatMap((row) => showDecision(connection, row, now) ?? []),
    cursor:
      rows.length > limit && last !== undefined
        ? writeCursor({ run: last.runKey, position: last.position })
        : undefined,
  }
}

/** Returns a decision; null, with a warning in the log, if it is not as it was when its run was deleted. */
function showDecision(connection: Connection, row: DecisionRow, now: number): Ask | null {
  if (isAsSealed(connection.sha256, row)) return showAsk(connection, row, now)
  connection.warnOnce(
    `The decision ${connection.askIds.describe(row)} of a deleted run is omitted: ${decisionDamage}. See ${docsPage('errors/run-quarantined')}`,
  )
  return null
}

type Place = NonNullable<DecisionQuery['before']>

function isPlace(value: unknown): value is Place {
  const { run, position } = (value ?? {}) as Partial<Place>
  return Number.isSafeInteger(run) && Number.isSafeInteger(position)
}
