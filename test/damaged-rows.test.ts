import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, onTestFinished, test } from 'vitest'
import { temporaryFolder } from './support/bundle.ts'
import { MemoryPlace } from './support/damage/memory-place.ts'
import { type RowPlace, unreadableAsks, unreadableNames, unreadableRuns } from './support/damage/rows.ts'
import { SqlitePlace } from './support/damage/sqlite-place.ts'
import { checkInbox, checkRuns } from './support/damage/views.ts'

async function makeSqlitePlace(): Promise<RowPlace> {
  const folder = await temporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  return new SqlitePlace(join(folder, 'pawl.db'))
}
const ofAsks = unreadableNames.filter(({ table }) => table === 'asks')
const ofRuns = unreadableNames.filter(({ table }) => table === 'run_info')
/** A row that is changed on its way out keeps its place in the list: the store still has the old values. */
const withTheirPlace = unreadableAsks.filter(({ column }) => !['opened_at', 'due_at'].includes(column))

describe('a row that cannot be read hides no other, and is warned of once', () => {
  test('an unreadable row hides no other row of the inbox, in memory', () =>
    checkInbox(new MemoryPlace(), withTheirPlace))
  test('an unreadable row hides no other row of the inbox, in SQLite', async () =>
    checkInbox(await makeSqlitePlace(), [...unreadableAsks, ...ofAsks]))
  test('an unreadable row hides no other row of a list of runs, in memory', () =>
    checkRuns(new MemoryPlace(), unreadableRuns))
  test('an unreadable row hides no other row of a list of runs, in SQLite', async () =>
    checkRuns(await makeSqlitePlace(), [...unreadableRuns, ...ofRuns]))
})
