import type { AskOrder, AskQuery, AskRow } from '@pawl/core/storage'
import { type SqlBool, sql } from 'kysely'
import { askStatusCode } from '../codes.ts'
import type { Database } from '../connection/database.ts'
import { Statement } from '../connection/statement.ts'
import { queries } from '../schema/tables.ts'

export interface AskList {
  ask(run: string, position: number): Promise<AskRow | null>
  askByKey(run: string, key: string): Promise<AskRow | null>
  asks(filter: AskQuery): Promise<readonly AskRow[]>
}

export function prepareAskList(database: Database): AskList {
  const select = () =>
    queries
      .withSchema(database.names.schema)
      .selectFrom('asks')
      .innerJoin('runs', 'runs.run', 'asks.run')
      .innerJoin('run_info', 'run_info.run', 'asks.run')
      .selectAll('asks')
      .select(['runs.id', 'runs.procedure', 'run_info.started_by'])

  /** A lookup by the run's id, the first of its values, and the second. */
  function prepareFind(column: 'asks.position' | 'asks.key'): FindAsk {
    const query = select().where(
      sql<SqlBool>`runs.id = ${sql.raw('$1')} and ${sql.ref(column)} = ${sql.raw('$2')}`,
    )
    const statement = new Statement(query.compile().sql)
    return async (run, place) => {
      const [row] = await database.repeat(() => database.run<StoredAsk>(statement, [run, place]))
      if (row) database.plans.noteRun(row.run)
      return row ? showAsk(row) : null
    }
  }

  /** One of the two parts of the list. Within a part the index has the order. */
  async function listPart(isOverdue: boolean, filter: AskQuery, limit: number): Promise<readonly AskRow[]> {
    const { status, to, run, procedure, kind, now, after } = filter
    let query = select()
      .where('asks.status', '=', askStatusCode.numberOf[status])
      .where(
        isOverdue
          ? sql<SqlBool>`asks.due_at <= ${now}`
          : sql<SqlBool>`(asks.due_at is null or asks.due_at > ${now})`,
      )
      .orderBy('asks.urgency', 'desc')
      .orderBy('asks.due_at')
      .orderBy('asks.opened_at')
      .orderBy('asks.run')
      .orderBy('asks.position')
      .limit(limit)
    if (to !== null) {
      query = query.where(
        isOverdue
          ? sql<SqlBool>`(${to} = any(asks.audience) or ${to} = any(asks.escalate_to))`
          : sql<SqlBool>`${to} = any(asks.audience)`,
      )
    }
    if (run !== null) query = query.where('runs.id', '=', run)
    if (procedure !== null) query = query.where('runs.procedure', '=', procedure)
    if (kind !== null) query = query.where('asks.kind', '=', kind)
    if (after?.overdue === isOverdue) query = query.where(comesAfter(after))
    return (await database.list(query.compile())).map(showAsk)
  }

  return {
    ask: prepareFind('asks.position'),
    askByKey: prepareFind('asks.key'),
    async asks(filter) {
      const { overdue, after, limit } = filter
      const isPastOverdue = after?.overdue === false
      const late = overdue === false || isPastOverdue ? [] : await listPart(true, filter, limit)
      if (overdue === true || late.length >= limit) return late
      return [...late, ...(await listPart(false, filter, limit - late.length))]
    },
  }
}

type FindAsk = (run: string, place: number | string) => Promise<AskRow | null>

/** SQL: the row stands behind that place, among rows that are all overdue or all not. */
function comesAfter({ urgency, dueAt, openedAt, run, position }: AskOrder): ReturnType<typeof sql<SqlBool>> {
  const behind = sql<SqlBool>`(asks.opened_at, asks.run, asks.position) > (${openedAt}, ${run}, ${position})`
  const laterDue =
    dueAt === null
      ? sql<SqlBool>`(asks.due_at is null and ${behind})`
      : sql<SqlBool>`(asks.due_at is null or asks.due_at > ${dueAt} or (asks.due_at = ${dueAt} and ${behind}))`
  return sql<SqlBool>`(asks.urgency < ${urgency} or (asks.urgency = ${urgency} and ${laterDue}))`
}

interface StoredAsk {
  readonly run: number
  readonly opened_at: number
  readonly due_at: number | null
  readonly closes_at: number | null
  readonly closed_at: number | null
  readonly position: number
  readonly status: number
  readonly urgency: number
  readonly kind: string
  readonly key: string | null
  readonly audience: readonly string[]
  readonly escalate_to: readonly string[]
  readonly answered_by: string | null
  readonly payload: Uint8Array
  readonly answer: Uint8Array | null
  readonly id: string
  readonly procedure: string
  readonly started_by: string | null
}

function showAsk(row: StoredAsk): AskRow {
  const { id, run, procedure, position, kind, key, urgency, payload, answer } = row
  return {
    run: id,
    runKey: run,
    procedure,
    startedBy: row.started_by,
    position,
    kind,
    key,
    urgency,
    to: row.audience,
    escalateTo: row.escalate_to,
    dueAt: row.due_at,
    closesAt: row.closes_at,
    payload,
    status: askStatusCode.wordOf(row.status),
    openedAt: row.opened_at,
    closedAt: row.closed_at,
    answeredBy: row.answered_by,
    answer,
  }
}
