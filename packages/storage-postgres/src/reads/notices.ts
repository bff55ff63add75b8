import {
  hiddenState,
  type NoticeRow,
  noticeKindCode,
  severityCode,
  type WholeStore,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listBigints, listTexts } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'

type StoredNotice = Omit<NoticeRow, 'kind' | 'severity'> & {
  readonly kind: number
  readonly severity: number
}

export function prepareNotices(database: Database): WholeStore['notices'] {
  const { notices, noticeTo, noticeReads, runs, runInfo } = database.names
  const isRead = `exists (select from ${noticeReads} d where d.n = x.n and d.reader = $4::text)`
  const list = `
    select x.n, r.id as run, x.run as "runKey", r.procedure, f.started_by as "startedBy", x.position, x.digest, x.seq, x.at,
      x.kind, x.severity, x.audience as "to", x.payload, ${isRead} as "isRead"
    from ${notices} x join ${runs} r on r.run = x.run join ${runInfo} f on f.run = x.run
    where r.state <> ${hiddenState} and ($1::bigint is null or x.n = $1) and ($2::bigint is null or x.run = $2)
      and ($3::text[] is null or x.n in (
        select t.n from ${noticeTo} t where t.name = any($3) and ($6::bigint is null or t.n < $6)))
      and (not $5::bool or not ${isRead}) and ($6::bigint is null or x.n < $6)
    order by x.n desc limit $7`
  const mark = new Statement(`
    insert into ${noticeReads} (n, reader) select n, $2 from ${notices} where n = any($1::bigint[])
    on conflict do nothing returning n`)
  return {
    async list({ n, run, to, reader, unread, before, limit }) {
      const values = [n, run, to === null ? null : listTexts(to), reader, unread, before, limit]
      const rows = await database.read<StoredNotice>(list, values)
      return rows.map(({ kind, severity, ...row }) => ({
        ...row,
        ...{ kind: noticeKindCode.wordIfKnown(kind), severity: severityCode.wordIfKnown(severity) },
      }))
    },
    async markRead(numbers, reader) {
      const rows = await database.repeat(() => database.run(mark, [listBigints(numbers), reader]))
      return rows.length
    },
  }
}
