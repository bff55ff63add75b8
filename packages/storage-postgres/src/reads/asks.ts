import { type AskRow, askStatusCode, type RunKey } from '@pawl/core/storage'
import type { Selection } from 'kysely'
import type { Database } from '../connection/database.ts'
import { listBigints, listIntegers, listTexts } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { onePerRow } from '../schema/planner.ts'
import type { Schema } from '../schema/tables.ts'
import { batchLookups } from './batch-lookups.ts'

export interface FindAsk {
  byPosition(run: string, position: number): Promise<AskRow | null>
  byRunKey(run: RunKey, position: number): Promise<AskRow | null>
  byKey(run: string, key: string): Promise<AskRow | null>
}

/**
 * The columns that `showAsk` reads, listed by name: a prepared statement with `*` fails permanently once a later
 * version has added a column.
 */
export const askColumns = [
  'a.run',
  'a.position',
  'a.status',
  'a.kind',
  'a.key',
  'a.urgency',
  'a.audience',
  'a.escalate_to',
  'a.opened_at',
  'a.due_at',
  'a.closes_at',
  'a.closed_at',
  'a.answered_by',
  'a.payload',
  'a.answer',
  'r.id',
  'r.procedure',
  'f.started_by',
] as const

export function prepareFindAsk(database: Database): FindAsk {
  /** Looks up asks by a name that is unique within the run. */
  function prepareFind<Name extends number | string>({ column, type, list, nameIn }: Place<Name>) {
    const { asks, runs, runInfo } = database.names
    const statement = new Statement(`
      select ${askColumns.join(', ')}
      from unnest($1::text[], $2::${type}[]) as wanted(id, name)
      cross join lateral (select run, id, procedure from ${runs} where id = wanted.id ${onePerRow}) as r
      cross join lateral (select * from ${asks} where run = r.run and ${column} = wanted.name ${onePerRow}) as a
      join ${runInfo} f on f.run = r.run`)
    return batchLookups<Address<Name>, AskRow>({
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
    ...{ column: 'position', type: 'int', list: listIntegers },
    nameIn: ({ position }) => position,
  })
  const findByKey = prepareFind<string>({
    ...{ column: 'key', type: 'text', list: listTexts },
    nameIn: ({ key }) => key ?? '',
  })
  const { asks, runs, runInfo } = database.names
  const ofRuns = new Statement(`
    select ${askColumns.join(', ')}
    from unnest($1::bigint[], $2::int[]) as wanted(run, position)
    cross join lateral (
      select * from ${asks} where run = wanted.run and position = wanted.position ${onePerRow}) as a
    join ${runs} r on r.run = a.run join ${runInfo} f on f.run = a.run`)
  const findByRunKey = batchLookups<{ readonly run: RunKey; readonly position: number }, AskRow>({
    async find(asked) {
      const values = [
        listBigints(asked.map(({ run }) => run)),
        listIntegers(asked.map(({ position }) => position)),
      ]
      return (await database.repeat(() => database.run<StoredAsk>(ofRuns, values))).map(showAsk)
    },
    nameOf: ({ run, position }) => `${run} ${position}`,
    keyOf: ({ runKey, position }) => ({ run: runKey, position }),
  })

  return {
    byRunKey: (run, position) => findByRunKey({ run, position }),
    byPosition: (run, position) => findByPosition({ run, name: position }),
    byKey: (run, key) => findByKey({ run, name: key }),
  }
}

/** Looks up an ask by its name in the run. */
interface Address<Name> {
  readonly run: string
  readonly name: Name
}
/** Names an ask within its run: its position or its key. */
interface Place<Name> {
  readonly column: 'position' | 'key'
  readonly type: 'int' | 'text'
  readonly list: (names: readonly Name[]) => Buffer
  readonly nameIn: (row: AskRow) => Name
}

/** Table aliases that the columns use. */
interface Tables {
  a: Schema['asks']
  r: Schema['runs']
  f: Schema['run_info']
}

export type StoredAsk = Selection<Tables, keyof Tables, (typeof askColumns)[number]>

export function showAsk(row: StoredAsk): AskRow {
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
    status: askStatusCode.wordIfKnown(row.status),
    openedAt: row.opened_at,
    closedAt: row.closed_at,
    answeredBy: row.answered_by,
    answer,
  }
}
