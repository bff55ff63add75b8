import { type Message, messageKindCode, type RunKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { checkInteger } from '../connection/integers.ts'

/** Stores a numbered message for a live run, and sets the run due if no worker owns it. */
export type LeaveMessage = (
  run: RunKey,
  message: Omit<Message, 'n'> & { readonly key: string | null },
) => Message

export function prepareLeaveMessage(database: Database): LeaveMessage {
  const wake = database.prepare(
    `update runs set mail = mail + 1,
       wake_at = iif(worker is null and mark = 0, min(coalesce(wake_at, ?), ?), wake_at) where run = ?`,
  )
  const insert = database
    .prepare<unknown[], number>(
      `insert into messages (run, n, at, kind, used, name, key, payload)
       select ?, mail, ?, ?, 0, ?, ?, ? from runs where run = ? returning n`,
    )
    .pluck()
  return (run, { at, kind, name, key, payload }) => {
    wake.run(at, at, run)
    const n = checkInteger(
      insert.get(run, at, messageKindCode.numberOf[kind], name, key, payload, run) as number,
    )
    return { n, at, kind, name, payload }
  }
}
