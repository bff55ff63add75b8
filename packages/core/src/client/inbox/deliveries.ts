import type { Connection } from '../connection.ts'
import { readViews } from '../views/read.ts'
import type { Delivery } from '../views/views.ts'

/** The procedures of a channel have their own names, so that only engines with the channel claim their runs. */
const procedurePrefix = 'pawl.notify.'

/** The procedure whose runs deliver asks to a channel. */
export function deliveryProcedureOf(channel: string): string {
  return `${procedurePrefix}${channel}`
}

/** The tag of all deliveries of an ask. */
export function deliveryTag(ask: string): string {
  return `pawl.ask:${ask}`
}

/** An engine has few channels; an ask has one delivery for each. */
const maxDeliveries = 100

/** Lists the deliveries of an ask, the first one first. */
export async function readDeliveries(connection: Connection, ask: string): Promise<readonly Delivery[]> {
  const store = await connection.store()
  const filter = {
    procedure: null,
    statuses: [],
    tag: deliveryTag(ask),
    parent: null,
    failedUndo: false,
    before: null,
  }
  const rows = await store.runs.list({ ...filter, limit: maxDeliveries })
  if (rows.length === 0) return []
  const views = await readViews(connection, rows)
  return views
    .flatMap(({ id: run, procedure, status }) => {
      if (!procedure.startsWith(procedurePrefix)) return []
      return [{ channel: procedure.slice(procedurePrefix.length), run, status }]
    })
    .toReversed()
}
