import {
  type ExtractedNotice,
  hiddenState,
  type NoticeQuery,
  type NoticeRow,
  noticeKindCode,
  type RunKey,
  severityCode,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { readNames } from './names.ts'

export interface NoticeReads {
  list(query: NoticeQuery): readonly NoticeRow[]
  ofRun(run: RunKey): readonly ExtractedNotice[]
}

type Stored<Row extends ExtractedNotice> = Omit<Row, 'kind' | 'severity' | 'to' | 'isRead'> & {
  readonly kind: number
  readonly severity: number
  readonly audience: string
}

const last = Number.MAX_SAFE_INTEGER

export function prepareNoticeReads(database: Database): NoticeReads {
  const isRead = 'exists (select 1 from notice_reads d where d.n = notices.n and d.reader = $reader)'
  const columns = 'position, digest, seq, at, kind, severity, audience, payload'
  const list = database.prepare<[object], Stored<NoticeRow> & { readonly isRead: number }>(
    `select n, id as run, notices.run as runKey, procedure, started_by as startedBy, ${columns}, ${isRead} as isRead
     from notices join runs on runs.run = notices.run join run_info on run_info.run = notices.run
     where state <> ${hiddenState} and ($n is null or n = $n) and ($run is null or notices.run = $run)
       and ($names is null or n in (
         select t.n from notice_to t where t.name in (select value from json_each($names)) and t.n < $before))
       and (not $unread or not ${isRead}) and n < $before
     order by n desc limit $limit`,
  )
  const ofRun = database.prepare<[RunKey], Stored<ExtractedNotice>>(
    `select ${columns} from notices where run = ? order by n`,
  )
  return {
    list: ({ n, run, to, reader, unread, before, limit }) => {
      const names = to === null ? null : JSON.stringify(to)
      const rows = list.all({ n, run, names, reader, unread: unread ? 1 : 0, before: before ?? last, limit })
      return rows.map((row) => ({ ...showNotice(row), isRead: row.isRead === 1 }))
    },
    ofRun: (run) => ofRun.all(run).map(showNotice),
  }
}

function showNotice<
  Row extends { readonly kind: number; readonly severity: number; readonly audience: string },
>({
  kind,
  severity,
  audience,
  ...row
}: Row): Omit<Row, 'kind' | 'severity' | 'audience'> & Pick<ExtractedNotice, 'kind' | 'severity' | 'to'> {
  return {
    ...row,
    ...{ kind: noticeKindCode.wordIfKnown(kind), severity: severityCode.wordIfKnown(severity) },
    to: readNames(audience),
  }
}
