import type { Connection } from '../connection.ts'
import { readViews } from '../views/read.ts'
import type { Delivery } from '../views/views.ts'
import { askTag, channelOf } from './names.ts'

/** An engine has few channels; an ask has one delivery for each. */
const maxDeliveries = 100

/** Lists the deliveries of an ask, the first one first. */
export async function readDeliveries(connection: Connection, ask: string): Promise<readonly Delivery[]> {
  const store = await connection.store()
  const filter = {
    procedure: null,
    statuses: [],
    tag: askTag(ask),
    parent: null,
    failedUndo: false,
    before: null,
  }
  const rows = await store.runs.list({ ...filter, limit: maxDeliveries })
  if (rows.length === 0) return []
  const views = await readViews(connection, rows)
  return views
    .flatMap(({ id: run, procedure, status }) => {
      const channel = channelOf(procedure)
      return channel === undefined ? [] : [{ channel, run, status }]
    })
    .toReversed()
}
