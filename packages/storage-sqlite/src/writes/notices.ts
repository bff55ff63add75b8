import {
  type KeptNotice,
  type NewNotice,
  namesOf,
  noticeKindCode,
  type RunKey,
  severityCode,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import type { FeedWrites } from './feed.ts'

export interface NoticeWrites {
  /** Writes the notice of a unit, unless the run has it. `seq`: the number of events that the log had. */
  write(run: RunKey, notice: NewNotice, seq: number, at: number): void
  /** Writes the notice of a copied run. */
  install(run: RunKey, notice: KeptNotice): void
  markRead(numbers: readonly number[], reader: string): number
  removeOf(run: RunKey): void
}

export function prepareNoticeWrites(database: Database, feed: FeedWrites): NoticeWrites {
  const insert = database
    .prepare<[RunKey, number, number, number, number, number, number, string, Uint8Array], number>(
      `insert into notices (run, position, digest, seq, at, kind, severity, audience, payload)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (run, position, digest) do nothing returning n`,
    )
    .pluck()
  const address = database.prepare('insert into notice_to (name, n) values (?, ?)')
  const mark = database.prepare(
    `insert into notice_reads (n, reader) select n, ? from notices where n = ? on conflict (n, reader) do nothing`,
  )
  const ofRun = 'n in (select n from notices where run = ?)'
  const removals = [
    `delete from notice_to where ${ofRun}`,
    `delete from notice_reads where ${ofRun}`,
    'delete from notices where run = ?',
  ].map((statement) => database.prepare(statement))

  function add(run: RunKey, notice: NewNotice, seq: number, at: number): number | undefined {
    const { position, digest, kind, severity, to, payload } = notice
    const codes = [noticeKindCode.numberOf[kind], severityCode.numberOf[severity]] as const
    const n = insert.get(run, position, digest, seq, at, ...codes, JSON.stringify(to), payload)
    if (n === undefined) return undefined
    for (const { name } of namesOf({ to, escalateTo: [] })) address.run(name, n)
    return n
  }

  return {
    write(run, notice, seq, at) {
      const n = add(run, notice, seq, at)
      if (n !== undefined) feed.tell('notice', run, n, at)
    },
    install: (run, notice) => void add(run, notice, notice.seq, notice.at),
    markRead: (numbers, reader) => numbers.reduce((count, n) => count + mark.run(reader, n).changes, 0),
    removeOf: (run) => {
      for (const statement of removals) statement.run(run)
    },
  }
}
