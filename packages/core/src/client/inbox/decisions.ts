import { checkKeys, checkName } from '../../checks/options.ts'
import type { DecisionQuery } from '../../ports/store/removals.ts'
import type { Connection } from '../connection.ts'
import { readCursor, writeCursor } from '../cursor.ts'
import { readLimit } from '../options.ts'
import type { Page } from '../page.ts'
import { showAsk } from '../views/ask.ts'
import type { Ask } from '../views/views.ts'

/** Lists the answered asks of deleted runs, those of the newest run first. */
export async function listDecisions(
  connection: Connection,
  filter: { readonly [name: string]: unknown },
): Promise<Page<Ask>> {
  checkKeys('the filter of inbox.list with archived', filter, [
    ...['archived', 'run', 'procedure', 'limit', 'cursor'],
  ])
  const { run, procedure, cursor } = filter
  const limit = readLimit('of inbox.list', filter['limit'])
  const before = cursor === undefined ? null : readCursor('cursor of inbox.list', cursor, isPlace)
  const store = await connection.begin()
  const now = await store.now()
  const rows = await store.decisions({
    run: run === undefined ? null : checkName('run of inbox.list', run),
    procedure: procedure === undefined ? null : checkName('procedure of inbox.list', procedure),
    ...{ before, limit: limit + 1 },
  })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    items: page.flatMap((row) => showAsk(connection, row, now) ?? []),
    cursor:
      rows.length > limit && last !== undefined
        ? writeCursor({ run: last.runKey, position: last.position })
        : undefined,
  }
}

type Place = NonNullable<DecisionQuery['before']>

function isPlace(value: unknown): value is Place {
  const { run, position } = (value ?? {}) as Partial<Place>
  return Number.isSafeInteger(run) && Number.isSafeInteger(position)
}
