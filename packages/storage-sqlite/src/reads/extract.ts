import { type KeptCheckpoint, messageKindCode, type RunExtract, type RunKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { checkInteger } from '../connection/integers.ts'
import type { MessagesTable } from '../schema/tables.ts'
import { askColumns, type StoredAsk, showAsk } from './asks.ts'
import type { NoticeReads } from './notices.ts'
import type { ReadRun } from './runs.ts'
import type { ReadStates } from './states.ts'

export type Extract = (id: string) => RunExtract | null

export function prepareExtract(
  database: Database,
  readRun: ReadRun,
  readStates: ReadStates,
  noticeReads: () => NoticeReads,
): Extract {
  const begin = database.prepare('begin')
  const commit = database.prepare('commit')
  const messages = database.prepare<[RunKey], MessageRow>(
    'select n, at, kind, used, name, key, sent_by as "by", payload from messages where run = ? order by n',
  )
  const asks = database.prepare<[RunKey], StoredAsk>(
    `select ${askColumns.join(', ')} from asks join runs on runs.run = asks.run join run_info on run_info.run = asks.run
     where asks.run = ? order by position`,
  )
  const checkpoints = database.prepare<[RunKey], KeptCheckpoint>(
    'select slot, position, seq, at, name, payload from checkpoints where run = ? order by n',
  )
  const readAll = (id: string): RunExtract | null => {
    const row = readRun(id)
    if (row === null) return null
    return {
      row,
      messages: messages.all(row.run).map((message) => ({
        ...message,
        ...{
          n: checkInteger(message.n),
          kind: messageKindCode.wordOf(message.kind),
          used: message.used === 1,
        },
      })),
      asks: asks.all(row.run).map(showAsk),
      states: readStates(row.run, null),
      checkpoints: row.state === 'completed' ? [] : checkpoints.all(row.run),
      notices: noticeReads().ofRun(row.run),
    }
  }
  return (id) => {
    // So that all statements see the file as it is at one instant.
    begin.run()
    try {
      return readAll(id)
    } finally {
      if (database.inTransaction) commit.run()
    }
  }
}

type MessageRow = Omit<MessagesTable, 'run' | 'sent_by'> & { readonly by: string | null }
