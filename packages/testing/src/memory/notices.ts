import type { ExtractedNotice, NewNotice, NoticeQuery, NoticeRow } from '@pawl/core/storage'
import { everyone } from '@pawl/core/storage'
import { tell } from './feed.ts'
import { copy, type NoticeRecord, type RunRecord, type Tables } from './tables.ts'

/** Writes a notice, unless the run has it. `seq`: the number of events that the log had. */
export function putNotice(
  tables: Tables,
  run: RunRecord,
  notice: NewNotice,
  seq: number,
  at: number,
): NoticeRecord | null {
  const { position, digest, kind, severity, to, payload } = notice
  if (run.notices.some((one) => one.position === position && one.digest === digest)) return null
  const n = ++tables.newestNotice
  const record = { n, position, digest, seq, at, kind, severity, to: [...to], payload: copy(payload) }
  run.notices.push({ ...record, readers: new Set() })
  return run.notices.at(-1) as NoticeRecord
}

/** Writes the notice of a unit. */
export function notify(tables: Tables, run: RunRecord, notice: NewNotice, seq: number, at: number): void {
  const made = putNotice(tables, run, notice, seq, at)
  if (made !== null) tell(tables, 'notice', run, made.n, at)
}

export function listNotices(tables: Tables, query: NoticeQuery): readonly NoticeRow[] {
  const { n, run, to, reader, unread, before, limit } = query
  const isWanted = ({ n: own, to: audience, isRead }: NoticeRow): boolean =>
    (n === null || own === n) &&
    (to === null ||
      (audience?.length === 0 ? [everyone] : (audience ?? [])).some((name) => to.includes(name))) &&
    (!unread || !isRead) &&
    (before === null || own < before)
  const runs = run === null ? [...tables.runsByKey.values()] : [tables.runsByKey.get(run) ?? []].flat()
  return runs
    .flatMap((record) => record.notices.map((notice) => showNotice(record, notice, reader)))
    .filter(isWanted)
    .sort((a, b) => b.n - a.n)
    .slice(0, limit)
}

export function noticesOf({ notices }: RunRecord): readonly ExtractedNotice[] {
  return notices.map(({ n: _, readers: __, ...notice }) => notice)
}

export function markRead({ runsByKey }: Tables, numbers: readonly number[], reader: string): number {
  const wanted = new Set(numbers)
  let count = 0
  for (const { notices } of runsByKey.values())
    for (const { n, readers } of notices)
      if (wanted.has(n) && !readers.has(reader)) {
        readers.add(reader)
        count++
      }
  return count
}

/** Whether the present generation of a run has a failed undo. */
export function hasFailedUndo({ notices, base }: RunRecord): boolean {
  return notices.some(({ kind, seq }) => kind === 'failed-undo' && seq >= base)
}

function showNotice(run: RunRecord, { readers, ...notice }: NoticeRecord, reader: string | null): NoticeRow {
  const { id, run: runKey, procedure, startedBy } = run
  const isRead = reader !== null && readers.has(reader)
  return { ...notice, run: id, runKey, procedure, startedBy, isRead }
}
