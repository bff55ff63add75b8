import { type AskOrder, type AskQuery, type AskRow, askStatusCode } from '@pawl/core/storage'
import { type SqlBool, sql } from 'kysely'
import type { Database } from '../connection/database.ts'
import { Statement } from '../connection/statement.ts'
import { listNumbers, listTexts } from '../connection/values.ts'
import { queries, type Schema } from '../schema/tables.ts'
import { gather } from './gather.ts'

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

  /** A lookup by what an ask has in its run alone. */
  function prepareFind<Name extends number | string>({ column, type, list, nameIn }: Place<Name>) {
    const { asks, runs, runInfo } = database.names
    // `offset 0`: one look at the index for each. A planner left to itself may walk through all asks of a run.
    const statement = new Statement(`
      select a.*, r.id, r.procedure, f.started_by
      from unnest($1::text[], $2::${type}[]) as wanted(id, name)
      cross join lateral (select run, id, procedure from ${runs} where id = wanted.id offset 0) as r
      cross join lateral (select * from ${asks} where run = r.run and ${column} = wanted.name offset 0) as a
      join ${runInfo} f on f.run = r.run`)
    return gather<Address<Name>, AskRow>({
      async find(asked) {
        const values = [listTexts(asked.map(({ run }) => run)), list(asked.map(({ name }) => name))]
        const rows = await database.repeat(() => database.run<StoredAsk>(statement, values))
        for (const { run } of rows) database.plans.noteRun(run)
        return rows.map(showAsk)
      },
      nameOf: ({ run, name }) => `${run.length} ${run} ${name}`,
      keyOf: (row) => ({ run: row.run, name: nameIn(row) }),
    })
  }
  const findByPosition = prepareFind<number>({
    ...{ column: 'position', type: 'int', list: listNumbers },
    nameIn: ({ position }) => position,
  })
  const findByKey = prepareFind<string>({
    ...{ column: 'key', type: 'text', list: listTexts },
    nameIn: ({ key }) => key ?? '',
  })

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
    ask: (run, position) => findByPosition({ run, name: position }),
    askByKey: (run, key) => findByKey({ run, name: key }),
    async asks(filter) {
      const { overdue, after, limit } = filter
      const isPastOverdue = after?.overdue === false
      const late = overdue === false || isPastOverdue ? [] : await listPart(true, filter, limit)
      if (overdue === true || late.length >= limit) return late
      return [...late, ...(await listPart(false, filter, limit - late.length))]
    },
  }
}

/** An ask by what it is called in its run. */
interface Address<Name> {
  readonly run: string
  readonly name: Name
}
/** What an ask is called by in its run: its position, or its key. */
interface Place<Name> {
  readonly column: 'position' | 'key'
  readonly type: 'int' | 'text'
  readonly list: (names: readonly Name[]) => string
  readonly nameIn: (row: AskRow) => Name
}

/** SQL: the row stands behind that place, among rows that are all overdue or all not. */
function comesAfter({ urgency, dueAt, openedAt, run, position }: AskOrder): ReturnType<typeof sql<SqlBool>> {
  const behind = sql<SqlBool>`(asks.opened_at, asks.run, asks.position) > (${openedAt}, ${run}, ${position})`
  const laterDue =
    dueAt === null
      ? sql<SqlBool>`(asks.due_at is null and ${behind})`
      : sql<SqlBool>`(asks.due_at is null or asks.due_at > ${dueAt} or (asks.due_at = ${dueAt} and ${behind}))`
  return sql<SqlBool>`(asks.urgency < ${urgency} or (asks.urgency = ${urgency} and ${laterDue}))`
}

type StoredAsk = Omit<Schema['asks'], 'token'> &
  Pick<Schema['runs'], 'id' | 'procedure'> &
  Pick<Schema['run_info'], 'started_by'>

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
