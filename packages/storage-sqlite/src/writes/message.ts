import type { Message, RunKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { checkInteger } from '../connection/integers.ts'
import { type LeftMessage, messageColumns } from './rows.ts'

/** Stores a numbered message for a live run, and sets the run due if no worker owns it. */
export type LeaveMessage = (run: RunKey, message: LeftMessage) => Message

export function prepareLeaveMessage(database: Database): LeaveMessage {
  const wake = database.prepare(
    `update runs set mail = mail + 1,
       wake_at = iif(worker is null and mark = 0, min(coalesce(wake_at, ?), ?), wake_at) where run = ?`,
  )
  const insert = database
    .prepare<unknown[], number>(
      `insert into messages (run, n, used, ${messageColumns.names})
       select ?, mail, 0, ${messageColumns.places} from runs where run = ? returning n`,
    )
    .pluck()
  return (run, message) => {
    const { at, kind, name, by, payload } = message
    wake.run(at, at, run)
    const n = insert.get(run, ...messageColumns.valuesOf(message), run) as number
    return { n: checkInteger(n), at, kind, name, by, payload }
  }
}
