import type { AskQuery, RunQuery } from '@pawl/core/storage'
import { beforeAll, describe, expect, it } from 'vitest'
import { driver } from '../../../../test/support/sqlite.ts'
import type { Database } from '../../src/connection/database.ts'
import { openDatabase } from '../../src/open.ts'
import { buildAskList, listAsks, listBands } from '../../src/reads/ask-list.ts'
import { buildNamedCount, buildNamedList } from '../../src/reads/asks-of-names.ts'
import { buildRunList } from '../../src/reads/run-list.ts'
import { prepareStatements } from '../../src/statements.ts'
import { makeDirectory, removeDirectory } from '../support/subject.ts'

// How SQLite goes about each statement; a table that is walked through grows slow with the store.
let database: Database
const statements = new Set<string>()

beforeAll(async () => {
  const directory = makeDirectory()
  database = await openDatabase(`${directory}/pawl.db`, driver)
  const prepare = database.prepare.bind(database)
  database.prepare = ((text: string) => {
    statements.add(text)
    return prepare(text)
  }) as typeof database.prepare
  // Reading a group that is rare prepares it.
  Object.values(prepareStatements(database))
  database.prepare = prepare
  return () => {
    database.close()
    removeDirectory(directory)
  }
})

function explain(text: string, ...parameters: unknown[]): string {
  const rows = database
    .prepare<unknown[], { detail: string }>(`explain query plan ${text}`)
    .all(...parameters)
  return rows.map(({ detail }) => detail).join('\n')
}

/** A null for each parameter, by its name if it has one. */
function parametersOf(text: string): readonly unknown[] {
  const names = [...text.matchAll(/\$(\w+)/g)].map(([, name]) => [name, null] as const)
  return names.length > 0 ? [Object.fromEntries(names)] : Array.from(text.matchAll(/\?/g), () => null)
}

const everyRun: RunQuery = {
  procedure: null,
  statuses: [],
  tag: null,
  parent: null,
  failedUndo: false,
  before: null,
  limit: 50,
}
const everyAsk: AskQuery = {
  status: 'open',
  to: null,
  run: null,
  procedure: null,
  kind: null,
  overdue: null,
  lapsed: null,
  now: 5,
  after: null,
  limit: 50,
}

describe('plans', () => {
  it('no prepared statement scans a growing table, or sorts', () => {
    const slow = [...statements]
      .map((text) => [text, explain(text, ...parametersOf(text))] as const)
      // The notices of one run are few.
      .filter(([text]) => !text.includes('from notices where run = ? order by'))
      // A page and a family are what a search has found. The index of suspects has these few runs only.
      .filter(([, plan]) =>
        /SCAN (?!workers|page|family|json_each|CONSTANT ROW|runs USING INDEX runs_suspected)|TEMP B-TREE/.test(
          plan,
        ),
      )
    expect(slow).toEqual([])
    expect(statements.size).toBeGreaterThan(30)
  })

  it('due runs are found by the index of due runs, whatever others must claim', () => {
    const text = [...statements].find((one) => one.includes('order by wake_at'))
    expect(explain(text ?? '', 'refund', 1, 5, 5, 5)).toBe(
      'SEARCH runs USING INDEX runs_due (procedure=? AND version=? AND wake_at>? AND wake_at<?)',
    )
  })

  it('the inbox is read in the order of its index', () => {
    for (const overdue of [true, false]) {
      const { sql, parameters } = buildAskList({ ...everyAsk, to: ['user:amy'] }, { overdue, urgency: 2 }, 50)
      expect(explain(sql, ...parameters)).toMatch(
        /^SEARCH asks USING INDEX asks_order \(status=\? AND urgency=\? AND <expr>/,
      )
      expect(explain(sql, ...parameters)).not.toContain('TEMP B-TREE')
    }
  })

  it('the inbox of several names is read in the order of the index of each', () => {
    const filter = { ...everyAsk, to: ['user:amy', 'group:a'], lapsed: false }
    for (const overdue of [true, false]) {
      const list = buildNamedList(filter, { overdue, urgency: 2 }, 50)
      expect(explain(list.sql, ...list.parameters)).not.toContain('SCAN asks')
      const looks = explain(list.sql, ...list.parameters).match(
        /SEARCH t USING COVERING INDEX ask_to_order \(name=\? AND urgency=\? AND due[<>]\?\)/g,
      )
      expect(looks).toHaveLength(2)
    }
    const count = buildNamedCount(filter, 50)
    expect(
      explain(count.sql, ...count.parameters).match(/COVERING INDEX ask_to_order \(name=\?\)/g),
    ).toHaveLength(2)
    const after = { overdue: false, urgency: 2, dueAt: 9, openedAt: 3, run: 1, position: 1 }
    const plans = listBands({ ...filter, after }).map((band) => {
      const { sql, parameters } = buildNamedList({ ...filter, after }, band, 50)
      return explain(sql, ...parameters)
    })
    expect(plans[0]).toContain(
      'ask_to_order (name=? AND urgency=? AND due=? AND (opened_at,run,position)>(?,?,?))',
    )
  })

  it('the next page of the inbox begins where the last one ended', () => {
    const after = { overdue: false, urgency: 2, dueAt: 9, openedAt: 3, run: 1, position: 1 }
    const plans = listBands({ ...everyAsk, after }).map((band) => {
      const { sql, parameters } = buildAskList({ ...everyAsk, after }, band, 50)
      return explain(sql, ...parameters)
    })
    expect(plans[0]).toContain(
      'asks_order (status=? AND urgency=? AND <expr>=? AND (opened_at,run,position)>(?,?,?))',
    )
    for (const plan of plans.slice(1))
      expect(plan).toContain('asks_order (status=? AND urgency=? AND <expr>>?)')
    expect(plans.join()).not.toContain('TEMP B-TREE')
  })

  it('the open questions of one run are found without scanning others', () => {
    const filter = { ...everyAsk, run: 'a' }
    const { sql, parameters } = buildAskList(filter, { overdue: false, urgency: 2 }, 50)
    expect(explain(sql, ...parameters)).toContain(
      'SEARCH asks USING INDEX asks_of_run (run=? AND status=? AND urgency=? AND <expr>>?)',
    )
    expect(explain(sql, ...parameters)).not.toContain('TEMP B-TREE')
    const looks: string[] = []
    listAsks((query) => {
      looks.push(explain(query.sql, ...query.parameters))
      return []
    }, filter)
    expect(looks).toEqual([
      expect.stringContaining('SEARCH asks USING COVERING INDEX asks_of_run (run=? AND status=?)'),
    ])
  })

  it('runs are listed from the newest, without sorting', () => {
    for (const filter of [
      everyRun,
      { ...everyRun, before: 7 },
      { ...everyRun, statuses: ['waiting' as const] },
    ]) {
      const { sql, parameters } = buildRunList(filter, 5)
      expect(explain(sql, ...parameters)).not.toContain('TEMP B-TREE')
    }
  })

  it.each([
    ['running', /INDEX runs_owned .*INDEX runs_due/s],
    ['failed', /^SEARCH runs USING INDEX runs_unsuccessful \(state=\?\)/],
    ['cancelled', /^SEARCH runs USING INDEX runs_unsuccessful \(state=\?\)/],
    ['stuck', /^SEARCH runs USING INDEX runs_marked/],
  ] as const)('runs that are %s are found among all others', (status, plan) => {
    const { sql, parameters } = buildRunList({ ...everyRun, statuses: [status] }, 5)
    expect(explain(sql, ...parameters)).toMatch(plan)
    expect(explain(sql, ...parameters)).not.toMatch(/SCAN runs(?! USING INDEX)/)
  })

  it.each([
    [null, 'tag=?'],
    [7, 'tag=? AND run<?'],
  ])('runs of a tag are found by the tag, a page (before %s) where the last one ended', (before, found) => {
    const { sql, parameters } = buildRunList({ ...everyRun, tag: 'vip', before }, 5)
    expect(explain(sql, ...parameters)).toContain(`SEARCH run_tags USING PRIMARY KEY (${found})`)
    expect(explain(sql, ...parameters)).not.toMatch(/TEMP B-TREE|LIST SUBQUERY/)
  })
})
