import { describe, test } from 'vitest'
import { makeDamagedPlace } from './support/damage/make-place.ts'
import { MemoryPlace } from './support/damage/memory-place.ts'
import { unreadableAsks, unreadableNames, unreadableRuns } from './support/damage/rows.ts'
import { checkInbox, checkRuns } from './support/damage/views.ts'
import { isPostgres } from './support/test-store.ts'

// Lists of names are text in SQLite alone.
const names = isPostgres ? [] : unreadableNames
const ofAsks = names.filter(({ table }) => table === 'asks')
const ofRuns = names.filter(({ table }) => table === 'run_info')
/** A row that is changed on its way out keeps its place in the list: the store still has the old values. */
const withTheirPlace = unreadableAsks.filter(({ column }) => !['opened_at', 'due_at'].includes(column))

describe('a row that cannot be read hides no other, and is warned of once', () => {
  test('an unreadable row hides no other row of the inbox, in memory', () =>
    checkInbox(new MemoryPlace(), withTheirPlace))
  test('an unreadable row hides no other row of the inbox, in SQL', async () =>
    checkInbox(await makeDamagedPlace(), [...unreadableAsks, ...ofAsks]))
  test('an unreadable row hides no other row of a list of runs, in memory', () =>
    checkRuns(new MemoryPlace(), unreadableRuns))
  test('an unreadable row hides no other row of a list of runs, in SQL', async () =>
    checkRuns(await makeDamagedPlace(), [...unreadableRuns, ...ofRuns]))
})
