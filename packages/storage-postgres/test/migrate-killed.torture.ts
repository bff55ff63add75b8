import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { bundle } from '../../../test/support/bundle.ts'
import type { KillMoment } from '../../../test/support/kill/sabotage.ts'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import {
  describeSchema,
  dumpRows,
  finishLiveRuns,
  leaveLiveRuns,
  takeBackTo14,
} from './support/older-schema.ts'

interface Left {
  /** States that are neither that before the migration nor that after it. */
  readonly halfDone: readonly string[]
  readonly untouched: number
  readonly results: readonly string[]
}

/** Migrates live runs with open questions, once for each statement, around which the process is killed, and then finishes them. */
async function killAtEvery(when: KillMoment, env: Readonly<Record<string, string>> = {}): Promise<Left> {
  const program = await bundle(new URL('programs/migrating.ts', import.meta.url).pathname)
  const database = await makeDatabase()
  const { owner, ownerUrl } = database
  await leaveLiveRuns(ownerUrl)
  const now = await describeSchema(owner, 'pawl')
  await takeBackTo14(owner)
  const then = await describeSchema(owner, 'pawl')
  const rows = await dumpRows(owner)
  const halfDone: string[] = []
  let untouched = 0
  for (let n = 1; ; n++) {
    const child = spawn(process.execPath, [program, ownerUrl], {
      env: { ...process.env, ...env, KILL_AT: `${n}:${when}` },
      stdio: 'inherit',
    })
    const [code] = await once(child, 'exit')
    await waitForSessions(database)
    const schema = await describeSchema(owner, 'pawl')
    const [isNew, isOld] = [now, then].map((state) => isDeepStrictEqual(schema, state))
    const areKept = isDeepStrictEqual(await dumpRows(owner), rows)
    if ((!isNew && !isOld) || !areKept || (code !== null && !isNew))
      halfDone.push(`killed ${when} statement ${n}`)
    if (code !== null || halfDone.length > 0) break
    if (isOld) untouched++
    else await takeBackTo14(owner)
  }
  const results = halfDone.length > 0 ? [] : await finishLiveRuns(ownerUrl)
  await database.remove()
  await rm(join(program, '..'), { recursive: true })
  return { halfDone, untouched, results }
}

test.each(['before', 'sent', 'after'] as const)(
  'live runs with open questions are as they were, or migrated, when the migration is killed %s any of its statements',
  async (when) => {
    const { halfDone, untouched, results } = await killAtEvery(when)
    expect(halfDone).toEqual([])
    expect(untouched).toBeGreaterThan(10)
    expect(results).toEqual(['2 in round 2', '2 in round 2', '2 in round 2'])
  },
)

test('control: a migration without a transaction is half done when it is killed', async () => {
  expect((await killAtEvery('before', { TRANSACTION: 'off' })).halfDone).not.toEqual([])
})

/** A server continues for a while with what it was told by a process that is gone. */
async function waitForSessions({ owner }: Pick<TestDatabase, 'owner'>): Promise<void> {
  const theirs = `select from pg_stat_activity where datname = current_database() and application_name = 'pawl'`
  await expect.poll(async () => (await owner.query(theirs)).rowCount, { interval: 5 }).toBe(0)
}
