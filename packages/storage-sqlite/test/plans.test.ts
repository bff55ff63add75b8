import type { AskQuery, RunQuery } from '@pawl/core/storage'
import SqliteDatabase from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildAskList } from '../src/reads/ask-list.ts'
import { buildRunList } from '../src/reads/run-list.ts'
import { openStore, tempFile } from './support/stores.ts'

type Built = ReturnType<typeof buildRunList>

/** How SQLite goes about it, a line for each table. */
async function explain({ sql, parameters }: Built): Promise<readonly string[]> {
  const file = tempFile()
  await openStore(file)
  const database = new SqliteDatabase(file, { readonly: true })
  onTestFinished(() => void database.close())
  const rows = database.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`).all(...parameters)
  return rows.map(({ detail }) => detail)
}

const asks: AskQuery = {
  ...{ status: 'open', to: null, run: null, procedure: null, kind: null, overdue: null, lapsed: null },
  ...{ now: 0, after: null, limit: 50 },
}
const runs: RunQuery = { procedure: null, statuses: [], tag: null, before: null, limit: 50 }

describe('what is listed is found without walking through the rest', () => {
  it('asks, in the order of their index', async () => {
    const plan = await explain(buildAskList(asks, { overdue: false, urgency: 1 }, 50))
    expect(plan).toContainEqual(
      expect.stringMatching(/SEARCH asks USING INDEX asks_order \(status=\? AND urgency=\?/),
    )
    expect(plan.join()).not.toContain('TEMP B-TREE')
  })

  it.each([
    [
      'of the same due' as const,
      'asks_order (status=? AND urgency=? AND <expr>=? AND (opened_at,run,position)>(?,?,?))',
    ],
    ['due later' as const, 'asks_order (status=? AND urgency=? AND <expr>>?)'],
  ])('asks %s, behind those of the page before', async (left, found) => {
    const after = { overdue: false, urgency: 1, dueAt: 5, openedAt: 1, run: 1, position: 1 }
    const plan = await explain(buildAskList({ ...asks, after }, { overdue: false, urgency: 1, left }, 50))
    expect(plan).toContainEqual(expect.stringContaining(found))
    expect(plan.join()).not.toContain('TEMP B-TREE')
  })

  it('asks of one run, by the run', async () => {
    const plan = await explain(buildAskList({ ...asks, run: 'a' }, { overdue: false, urgency: 1 }, 50))
    expect(plan).toContainEqual(expect.stringMatching(/SEARCH asks USING PRIMARY KEY \(run=\?\)/))
  })

  it.each([
    [null, 'tag=?'],
    [1_000, 'tag=? AND run<?'],
  ])('runs with a tag, older than run %s, by the tag', async (before, found) => {
    const plan = await explain(buildRunList({ ...runs, tag: 't', before }, 0))
    expect(plan).toContainEqual(expect.stringContaining(`SEARCH run_tags USING PRIMARY KEY (${found})`))
    expect(plan.join()).not.toMatch(/TEMP B-TREE|LIST SUBQUERY/)
  })
})
