import { describe, onTestFinished, test } from 'vitest'
import { PostgresPlace } from '../support/damage/postgres-place.ts'
import { unreadableAsks, unreadableRuns } from '../support/damage/rows.ts'
import { checkInbox, checkRuns } from '../support/damage/views.ts'
import { makeDatabase } from '../support/postgres-database.ts'

async function makePlace(): Promise<PostgresPlace> {
  const database = await makeDatabase()
  onTestFinished(() => database.remove())
  return new PostgresPlace(database)
}

describe('a row that cannot be read hides no other, and is warned of once', () => {
  test('an unreadable row hides no other row of the inbox, and is logged once', async () =>
    checkInbox(await makePlace(), unreadableAsks))
  test('an unreadable row hides no other row of a list of runs, and is logged once', async () =>
    checkRuns(await makePlace(), unreadableRuns))
})
