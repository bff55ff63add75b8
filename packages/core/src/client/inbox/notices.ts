import type { Actor, Audience } from '../../base/people.ts'
import type { Severity } from '../../base/words.ts'
import { checkArray, checkBoolean, checkName, refuse } from '../../checks/options.ts'
import { checkActor } from '../../checks/people.ts'
import { optional, readOptions, required, type Spec } from '../../checks/spec.ts'
import { decode } from '../../events/payload.ts'
import type { NoticePayload } from '../../events/payloads.ts'
import { concernOf } from '../../ports/concerns.ts'
import { readNotice, understand } from '../../ports/rows.ts'
import { everyone } from '../../ports/store/asks.ts'
import type { NoticeRow } from '../../ports/store/notices.ts'
import type { Connection } from '../connection.ts'
import { cursorOf, writeCursor } from '../cursor.ts'
import { pageLimit } from '../options.ts'
import type { Page } from '../page.ts'
import type { NoticeFilter, NoticeReader } from '../types.ts'
import { explainUnread } from '../unread.ts'
import type { Notice } from '../views/views.ts'
import { readNames } from './list.ts'

const filterOptions = {
  id: optional(readId, null),
  run: optional(checkName),
  visibleTo: optional((option, given) => readNames(option, checkArray(option, given))),
  reader: optional(checkActor, null),
  unread: optional(checkBoolean, false),
  limit: pageLimit,
  cursor: optional(cursorOf(isPlace)),
} satisfies Spec<NoticeFilter>

/** Lists notices, the newest first. */
export async function listNotices(connection: Connection, given: unknown): Promise<Page<Notice>> {
  const filter = readOptions('of inbox.notices', given, filterOptions, 'the filter of inbox.notices')
  const { id: n, run: id, visibleTo, reader, unread, limit, cursor } = filter
  if (unread && reader === null)
    refuse(
      'unread of inbox.notices',
      unread,
      'Pass `reader` as well: each person has read marks of their own.',
    )
  const store = await connection.begin()
  const notices = concernOf(store, 'notices')
  const run = id === undefined ? null : ((await store.runs.find(id))?.run ?? 0)
  const to = visibleTo === undefined ? null : [everyone, ...visibleTo]
  const before = cursor?.before ?? null
  const rows = await notices.list({ n, run, to, reader, unread, before, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    items: page.flatMap((row) => showNotice(connection, row) ?? []),
    cursor: rows.length > limit && last !== undefined ? writeCursor({ before: last.n }) : undefined,
  }
}

const readerOptions = { as: required(checkActor) } satisfies Spec<NoticeReader>
const maxMarked = 1_000

/** Marks notices as read by a person. Returns how many were unread before. */
export async function readNotices(connection: Connection, given: unknown, by: unknown): Promise<number> {
  const ids = checkArray('notices of inbox.readNotices', given).map((id) =>
    readId('notices of inbox.readNotices', id),
  )
  if (ids.length > maxMarked)
    refuse('notices of inbox.readNotices', ids, `Pass at most ${maxMarked}.`, `${ids.length} notices`)
  const { as } = readOptions('of inbox.readNotices', by, readerOptions)
  return concernOf(await connection.begin(), 'notices').markRead([...new Set(ids)], as)
}

function readId(option: string, given: unknown): number {
  const id = checkName(option, given)
  const n = Number(id)
  if (!/^[1-9][0-9]*$/.test(id) || !Number.isSafeInteger(n))
    refuse(option, given, 'It must be the id of a notice.')
  return n
}

/** Undefined, with a warning in the log, for one that cannot be read. */
function showNotice(connection: Connection, row: NoticeRow): Notice | undefined {
  try {
    return understand(() => {
      const { n, run, procedure, startedBy, position, at, kind, severity, to, payload, isRead } = {
        ...row,
        ...readNotice(row),
      }
      const { message, details = [], links = [] } = decode(payload) as NoticePayload
      return {
        ...{ id: String(n), run, procedure, kind, severity: severity as Severity, message },
        position: position < 0 ? undefined : position,
        at: new Date(at),
        to: to as readonly Audience[],
        startedBy: (startedBy ?? undefined) as Actor | undefined,
        details: details as Notice['details'],
        links,
        isRead,
      }
    })
  } catch (error) {
    const { message } = explainUnread(row.run, `Notice ${row.n} of run ${row.run}`, error) as Error
    connection.warnOnce(message)
    return undefined
  }
}

function isPlace(value: unknown): value is { readonly before: number } {
  return Number.isSafeInteger((value as { readonly before?: unknown } | null)?.before)
}
