import { createEngine, procedure } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import type pg from 'pg'
import { z } from 'zod'

const patient = procedure(
  { name: 'patient', input: z.object({ round: z.number() }), signals: { n: z.number() } },
  async (ctx, { round }): Promise<string> => {
    await ctx.step('load', () => 'loaded')
    if (round === 2) return `${await ctx.receive('n')} in round 2`
    const { approved } = await ctx.human.approve('Continue?', { key: 'go' })
    const n = await ctx.receive('n')
    await ctx.step('note', () => `${approved} ${n}`)
    return ctx.continueAs({ round: 2 })
  },
)
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const ids = ['asking', 'with mail', 'answered'] as const

/**
 * Leaves live runs: one that asks, one that has unread signals beside its open question, and one whose answer no worker has read.
 */
export async function leaveLiveRuns(url: string): Promise<void> {
  const engine = await createEngine({ store: postgres(url), procedures: [patient], logger: silent })
  const [, withMail] = await Promise.all(ids.map((id) => engine.run(patient, { round: 1 }, { id })))
  for (const id of ids) await engine.inbox.next({ run: id })
  await withMail?.signal('n', 1)
  await withMail?.signal('n', 2)
  await engine.stop()
  const client = await createEngine({ store: postgres(url), procedures: [], logger: silent })
  await client.inbox.answer({ run: 'answered', key: 'go' }, { approved: true }, { as: 'user:ana' })
  await client.stop()
}

/** Answers what is open, and returns what the runs return, which continue on the way. */
export async function finishLiveRuns(url: string): Promise<readonly string[]> {
  const engine = await createEngine({ store: postgres(url), procedures: [patient], logger: silent })
  const { items } = await engine.inbox.list({})
  for (const { id } of items) await engine.inbox.answer(id, { approved: true }, { as: 'user:ana' })
  const runs = ids.map((id) => engine.get(patient, id))
  for (const run of runs) if (run.id !== 'with mail') for (const n of [1, 2]) await run.signal('n', n)
  const results = await Promise.all(runs.map((run) => run.result()))
  await engine.stop()
  return results
}

/** Takes away what the migrations after version 14 have added: tables and a column, and no data of their own so far. */
export async function takeBackTo14(owner: pg.Pool): Promise<void> {
  await owner.query(`begin; alter table pawl.runs drop column base; drop table pawl.decisions, pawl.checkpoints,
    pawl.notices, pawl.notice_to, pawl.notice_reads;
    delete from pawl.migrations where version > 14; commit`)
}

const later = ['migrations', 'decisions', 'checkpoints', 'notices', 'notice_to', 'notice_reads']

/** All rows of the tables that there were, without the column that a migration adds. */
export async function dumpRows(owner: pg.Pool): Promise<Readonly<Record<string, unknown>>> {
  const dumped: Record<string, unknown> = {}
  const found = await owner.query<{ tablename: string }>(
    `select tablename from pg_tables where schemaname = 'pawl' and tablename <> all ($1) order by 1`,
    [later],
  )
  for (const { tablename: table } of found.rows) {
    const { rows } = await owner.query(`select to_jsonb(t) - 'base' as row from pawl."${table}" t order by 1`)
    dumped[table] = rows.map(({ row }) => row)
  }
  return dumped
}

/** The columns and indexes of a schema. */
export async function describeSchema(owner: pg.Pool, schema: string): Promise<readonly unknown[]> {
  const columns = await owner.query(
    `select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
     where table_schema = $1 order by table_name, ordinal_position`,
    [schema],
  )
  const indexes = await owner.query(
    `select indexname, replace(indexdef, $1 || '.', '') as definition from pg_indexes where schemaname = $1 order by 1`,
    [schema],
  )
  return [...columns.rows, ...indexes.rows]
}
