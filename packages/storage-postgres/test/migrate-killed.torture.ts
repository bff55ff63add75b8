import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bundle } from '../../../test/support/bundle.ts'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { describeSchema, dumpRows, finishLiveRuns, leaveLiveRuns, takeBackTo14 } from './support/older-schema.ts'

test.each(['before', 'sent', 'after'] as const)(
  'live runs with open questions are as they were, or migrated, when the migration is killed %s any of its statements',
  async (when) => {
    const program = await bundle(new URL('programs/migrating.ts', import.meta.url).pathname)
    const database = await makeDatabase()
    const { owner } = database
    await leaveLiveRuns(database)
    const now = await describeSchema(owner, 'pawl')
    await takeBackTo14(owner)
    const then = await describeSchema(owner, 'pawl')
    const rows = await dumpRows(owner)
    const left = { untouched: 0, migrated: 0 }
    for (let n = 1; ; n++) {
      const child = spawn(process.execPath, [program, database.ownerUrl], {
        env: { ...process.env, KILL_AT: `${n}:${when}` },
        stdio: 'inherit',
      })
      const [code] = await once(child, 'exit')
      await waitForSessions(database)
      const schema = await describeSchema(owner, 'pawl')
      const isMigrated = schema.length === now.length
      expect(schema, `killed ${when} statement ${n}`).toEqual(isMigrated ? now : then)
      expect(await dumpRows(owner), `killed ${when} statement ${n}`).toEqual(rows)
      if (code !== null) {
        expect({ code, isMigrated }).toEqual({ code: 7, isMigrated: true })
        break
      }
      left[isMigrated ? 'migrated' : 'untouched']++
      if (isMigrated) await takeBackTo14(owner)
    }
    expect(left.untouched).toBeGreaterThan(10)
    expect(await finishLiveRuns(database)).toEqual(['2 in round 2', '2 in round 2', '2 in round 2'])
    await database.remove()
    await rm(join(program, '..'), { recursive: true })
  },
)

/** A server goes on for a while with what it was told by a process that is gone. */
async function waitForSessions({ owner }: Pick<TestDatabase, 'owner'>): Promise<void> {
  const theirs = `select pid, state, query, wait_event, application_name from pg_stat_activity where datname = current_database() and application_name = 'pawl'`
  await expect.poll(async () => (await owner.query(theirs)).rows, { interval: 5 }).toEqual([])
}
