import { type NewNotice, noticeKindCode, severityCode } from '@pawl/core/storage'
import {
  listBytes,
  listIntegers,
  listSmallints,
  listTexts,
  writeLiteral,
} from '../connection/fast-path/lists.ts'
import type { Value } from '../connection/fast-path/values.ts'
import type { Names } from '../names.ts'

/** SQL: inserts the names by which notices are found. `made`: a part with the columns `n` and `audience`. */
export function writeNames({ noticeTo }: Names, made: string): string {
  return `
      insert into ${noticeTo} (n, name)
      select distinct n, name from ${made} cross join
        unnest(case when cardinality(audience) = 0 then array['']::text[] else audience end) as name`
}

/** Binds position, digest, kind, severity, audience and payload. */
export function bindNotices(notices: readonly NewNotice[]): readonly Value[] {
  return [
    listIntegers(notices.map(({ position }) => position)),
    listIntegers(notices.map(({ digest }) => digest)),
    listSmallints(notices.map(({ kind }) => noticeKindCode.numberOf[kind])),
    listSmallints(notices.map(({ severity }) => severityCode.numberOf[severity])),
    // A list in a list: `unnest` would flatten them.
    listTexts(notices.map(({ to }) => writeLiteral(to))),
    listBytes(notices.map(({ payload }) => payload)),
  ]
}
