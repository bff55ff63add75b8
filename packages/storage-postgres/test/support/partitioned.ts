import type pg from 'pg'
import { makeDatabase, readGuide, type TestDatabase } from '../../../../test/support/postgres-database.ts'

/** What differs from the defaults at once: another schema, tables partitioned by run, and no named statements. */
export const partitioned = { schema: 'Other_1', prepared: false } as const

export function makePartitioned(): Promise<TestDatabase> {
  return makeDatabase({ schema: partitioned.schema, prepare: partition })
}

/** What docs/guides/postgres.md says to do before the first run. */
async function partition(owner: pg.Pool): Promise<void> {
  await owner.query(readGuide('do $$').replaceAll('"pawl"', `"${partitioned.schema}"`))
}
