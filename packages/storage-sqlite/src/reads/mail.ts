import { type Message, messageKindCode, type RunKey, type WorkerKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { checkInteger } from '../connection/integers.ts'

export interface MailReads {
  readMail(run: RunKey, after: number): readonly Message[]
  readReply(run: RunKey, key: string): Uint8Array | null
  readMailOf(worker: WorkerKey): readonly { readonly run: RunKey; readonly mail: number }[]
}

export function prepareMailReads(database: Database): MailReads {
  const unread = database.prepare<[RunKey, number], MessageRow>(
    'select n, at, kind, name, sent_by as "by", payload from messages where run = ? and n > ? and used = 0 order by n',
  )
  const counters = database.prepare<[WorkerKey], { run: RunKey; mail: number }>(
    'select run, mail from runs where worker = ?',
  )
  const reply = database
    .prepare<[RunKey, string], Uint8Array | null>(
      'select payload from messages where run = ? and key = ? and used = 1',
    )
    .pluck()
  return {
    readReply: (run, key) => reply.get(run, key) ?? null,
    readMail: (run, after) =>
      unread
        .all(run, after)
        .map((row) => ({ ...row, n: checkInteger(row.n), kind: messageKindCode.wordOf(row.kind) })),
    readMailOf: (worker) => counters.all(worker),
  }
}

interface MessageRow {
  readonly n: number
  readonly at: number
  readonly kind: number
  readonly name: string
  readonly by: string | null
  readonly payload: Uint8Array | null
}
