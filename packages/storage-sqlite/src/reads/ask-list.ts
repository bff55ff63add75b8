import { type AskQuery, askStatusCode } from '@pawl/core/storage'
import { type CompiledQuery, sql } from 'kysely'
import { queries } from '../schema/queries.ts'
import { askColumns } from './reads.ts'

/** The asks of one urgency that are all overdue, or all not. The index has each band in the order of the list. */
export interface Band {
  readonly overdue: boolean
  readonly urgency: number
}

// The expression of the index `asks_order`: an ask that never becomes overdue comes last.
const due = sql<number>`ifnull(due_at, 9007199254740991)`

/** The bands of the list, the most urgent first, from where the page before ended. */
export function listBands({ overdue, after }: AskQuery): readonly Band[] {
  const bands = [true, false].flatMap((late) => [3, 2, 1, 0].map((urgency) => ({ overdue: late, urgency })))
  const wanted = bands.filter((band) => overdue === null || band.overdue === overdue)
  return after === null ? wanted : wanted.filter((band) => rank(band) >= rank(after))
}

/** Rows are those of `showAsk`. */
export function buildAskList(filter: AskQuery, band: Band, limit: number): CompiledQuery {
  const { status, to, run, procedure, kind, lapsed, now, after } = filter
  const isResumed = after !== null && rank(after) === rank(band)
  return queries
    .selectFrom('asks')
    .innerJoin('runs', 'runs.run', 'asks.run')
    .innerJoin('run_info', 'run_info.run', 'asks.run')
    .select(sql.raw(askColumns) as never)
    .where(columnFor('asks.status', run), '=', askStatusCode.numberOf[status])
    .where(columnFor('asks.urgency', run), '=', band.urgency)
    .where(due, band.overdue ? '<=' : '>', now)
    .$if(isResumed, (query) => query.where(comesAfter(after)))
    .$if(lapsed !== null, (query) => query.where(hasLapsed(lapsed === true, now)))
    .$if(to !== null, (query) =>
      query.where((where) =>
        where.or(
          band.overdue
            ? [hasName('audience', to as string), hasName('escalate_to', to as string)]
            : [hasName('audience', to as string)],
        ),
      ),
    )
    .$if(run !== null, (query) => query.where('runs.id', '=', run as string))
    .$if(procedure !== null, (query) => query.where('runs.procedure', '=', procedure as string))
    .$if(kind !== null, (query) => query.where('asks.kind', '=', kind as string))
    .orderBy(due)
    .orderBy('opened_at')
    .orderBy('asks.run')
    .orderBy('asks.position')
    .limit(limit)
    .compile()
}

/** As an expression, where the asks of one run are wanted: they are found by it, not among all in the order of the list. */
function columnFor(column: 'asks.status' | 'asks.urgency', run: string | null) {
  return run === null ? sql.ref<number>(column) : sql<number>`+${sql.ref(column)}`
}

function hasLapsed(lapsed: boolean, now: number) {
  return lapsed ? sql<boolean>`closes_at <= ${now}` : sql<boolean>`(closes_at is null or closes_at > ${now})`
}

function comesAfter(after: AskQuery['after']) {
  const { dueAt, openedAt, run, position } = after as NonNullable<typeof after>
  const dueOrNever = dueAt ?? Number.MAX_SAFE_INTEGER
  return sql<boolean>`(${due}, opened_at, asks.run, asks.position) > (${dueOrNever}, ${openedAt}, ${run}, ${position})`
}

/** The quick look for the quoted name comes first: taking the list apart is what costs. */
function hasName(column: 'audience' | 'escalate_to', name: string) {
  const names = sql.ref(`asks.${column}`)
  return sql<boolean>`(instr(${names}, ${JSON.stringify(name)}) > 0
    and exists (select 1 from json_each(${names}) where value = ${name}))`
}

function rank({ overdue, urgency }: Band): number {
  return (overdue ? 0 : 4) + 3 - urgency
}
