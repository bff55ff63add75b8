import { heldKinds, messageKindCode, type StorePort } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { storeTime } from '../names.ts'

/** SQL: whether a run holds messages back: the time when an owned run would be due means nothing else. */
export function isHolding(run: string): string {
  return `(${run}.worker is not null and ${run}.wake_at > (select now from clock))`
}

/** SQL: the kinds of messages that are held back, as a list. */
export const heldList: string = `(${heldKinds.map((kind) => messageKindCode.numberOf[kind]).join(', ')})`

export function prepareHoldMail(database: Database): StorePort['mail']['hold'] {
  const hold = new Statement(`
    update ${database.names.runs} set wake_at = ${storeTime} + $4::bigint
    where run = $1 and epoch = $2 and worker = $3 and state = 0 returning mail`)
  return async (worker, run, epoch, forMs) => {
    // A repeated hold lasts somewhat longer.
    const rows = await database.repeat(() =>
      database.run<{ mail: number }>(hold, [run, epoch, worker, forMs]),
    )
    return rows[0]?.mail ?? null
  }
}
