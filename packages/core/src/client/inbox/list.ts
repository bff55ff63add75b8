import { askAddressOf } from '../../asks/ask-id.ts'
import { compareOrder, orderOf } from '../../asks/order.ts'
import type { Audience } from '../../base/people.ts'
import { type AskKind, type AskStatus, askKinds, askStatuses } from '../../base/words.ts'
import { checkArray, checkBoolean, checkName, checkObject, refuse } from '../../checks/options.ts'
import { checkAudience } from '../../checks/people.ts'
import { oneOf, optional, type RowsOf, readOptions, type Spec } from '../../checks/spec.ts'
import { isPlaced } from '../../ports/rows.ts'
import { type AskOrder, type AskQuery, type AskRow, everyone } from '../../ports/store/asks.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { Connection } from '../connection.ts'
import { cursorOf, writeCursor } from '../cursor.ts'
import { pageLimit } from '../options.ts'
import type { Page } from '../page.ts'
import type { AskFilter, CountFilter } from '../types.ts'
import { showAsk } from '../views/ask.ts'
import type { Ask } from '../views/views.ts'
import { listDecisions } from './decisions.ts'
import { readDeliveries } from './deliveries.ts'
import { findShown } from './find.ts'

/** Says which asks are meant. */
interface AskConditions {
  readonly status: AskStatus
  readonly to: readonly Audience[] | null
  readonly visibleTo?: readonly Audience[]
  readonly run: string | null
  readonly procedure: string | null
  readonly kind: AskKind | null
  readonly overdue: boolean | null
}

export const conditionOptions: RowsOf<AskConditions> = {
  status: optional(oneOf(askStatuses), 'open'),
  to: optional(readTo, null),
  visibleTo: optional((option, given) => readNames(option, checkArray(option, given))),
  run: optional(checkName, null),
  procedure: optional(checkName, null),
  kind: optional(oneOf(askKinds), null),
  overdue: optional(checkBoolean, null),
} satisfies Spec<CountFilter>

const listOptions = {
  ...conditionOptions,
  archived: optional(checkBoolean),
  limit: pageLimit,
  cursor: optional(cursorOf(isPlace), null),
} satisfies Spec<AskFilter>

const maxNames = 200

export async function listAsks(connection: Connection, given: unknown): Promise<Page<Ask>> {
  const filter = checkObject('filter of inbox.list', given)
  if (filter['archived'] !== undefined && checkBoolean('archived of inbox.list', filter['archived']))
    return listDecisions(connection, filter)
  const options = readOptions('of inbox.list', filter, listOptions, 'the filter of inbox.list')
  const { limit, cursor: place } = options
  const query = queryOf('inbox.list', options)
  const store = await connection.begin()
  const now = place?.now ?? (await store.now())
  const { rows, last } = await readPage(store, { ...query, now, after: place?.after ?? null }, limit)
  return {
    items: rows.flatMap((row) => showAsk(connection, row, now) ?? []),
    cursor: last === null ? undefined : writeCursor({ now, after: orderOf(last, now) }),
  }
}

/** Reads the rows of a page; `last` is set if there are more. */
async function readPage(
  store: StorePort,
  query: Omit<AskQuery, 'lapsed' | 'limit'>,
  limit: number,
): Promise<{ readonly rows: readonly AskRow[]; readonly last: AskRow | null }> {
  for (let size = limit; ; size += limit) {
    const rows = await findAsks(store, { ...query, limit: size + 1 })
    if (rows.length <= size) return { rows, last: null }
    const page = rows.slice(0, size)
    // A row that no cursor can represent is unreadable too, so one more page contains as many readable rows as allowed.
    const last = page.findLast(isPlaced)
    if (last !== undefined) return { rows: page, last }
  }
}

/** Finds asks. An ask whose timeout has passed counts as timed out, even if no worker has recorded it yet. */
export async function findAsks(
  store: StorePort,
  query: Omit<AskQuery, 'lapsed'>,
): Promise<readonly AskRow[]> {
  if (query.status === 'open') return store.asks.list({ ...query, lapsed: false })
  // Unrecorded timeouts first: one that is recorded in between then appears twice instead of not at all.
  const unrecorded =
    query.status === 'timed-out' && query.overdue !== false
      ? await store.asks.list({ ...query, status: 'open', overdue: true, lapsed: true })
      : []
  const recorded = await store.asks.list({ ...query, lapsed: null })
  if (unrecorded.length === 0) return recorded
  const { now, limit } = query
  const byId = new Map([...unrecorded, ...recorded].map((row) => [askAddressOf(row), row]))
  return [...byId.values()].toSorted((a, b) => compareOrder(orderOf(a, now), orderOf(b, now))).slice(0, limit)
}

export function queryOf(
  of: 'inbox.list' | 'inbox.count',
  { status, to, visibleTo, run, procedure, kind, overdue }: AskConditions,
): Omit<AskQuery, 'now' | 'after' | 'limit' | 'lapsed'> {
  if (to !== null && visibleTo !== undefined)
    refuse(`visibleTo of ${of}`, visibleTo, 'Give to or visibleTo, not both.')
  const names = visibleTo === undefined ? to : [everyone, ...visibleTo]
  return { status, to: names, run, procedure, kind, overdue }
}

function readTo(option: string, to: unknown): readonly Audience[] {
  if (Array.isArray(to) && to.length === 0) refuse(option, to, 'It must not be empty; omit it for all asks.')
  return readNames(option, Array.isArray(to) ? to : [to])
}

export function readNames(option: string, names: readonly unknown[]): readonly Audience[] {
  if (names.length > maxNames) refuse(option, names, `It must have at most ${maxNames} names.`)
  return [...new Set(names.map((name) => checkAudience(option, name)))]
}

interface Place {
  /** The instant of the first page, used for all pages. */
  readonly now: number
  readonly after: AskOrder
}

function isPlace(value: unknown): value is Place {
  const { now, after } = (value ?? {}) as Partial<Place>
  if (typeof now !== 'number' || typeof after !== 'object' || after === null) return false
  const { overdue, urgency, dueAt, openedAt, run, position } = after as Partial<AskOrder>
  const numbers = [urgency, openedAt, run, position, dueAt ?? 0]
  return typeof overdue === 'boolean' && numbers.every((number) => Number.isSafeInteger(number))
}

export async function getAsk(connection: Connection, given: unknown): Promise<Ask | null> {
  const found = await findShown(connection, checkId(given))
  return found === null ? null : { ...found.ask, deliveries: await readDeliveries(connection, found.ask.id) }
}

function checkId(given: unknown): string {
  return typeof given === 'string'
    ? given
    : refuse('ask', given, 'It must be the id of an ask, as returned by `inbox.list`.')
}
