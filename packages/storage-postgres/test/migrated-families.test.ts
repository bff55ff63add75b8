import { messageKindCode } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { finishRuns } from '../../../test/golden/finish.ts'
import { copyGolden } from '../../../test/support/golden-in-postgres.ts'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import type { Client } from '../src/connection/clients.ts'
import { nameTables } from '../src/names.ts'
import { migrateOn, migrations } from '../src/schema/migrate.ts'

// Runs with live children, messages about ends and updates that no log has yet, in the first schema that has a table for all
// they have: before generations, decisions and checkpoints.
const version = 14
const schema = 'old'
const names = nameTables(schema)
const tables = ['runs', 'run_info', 'events', 'messages', 'asks', 'run_state'] as const

let database: TestDatabase
beforeAll(async () => {
  database = await makeDatabase()
})
afterAll(() => database.remove())

async function count(from: string): Promise<number> {
  const text = `select count(*)::int as count from ${from.replaceAll('$', `${schema}.`)}`
  const { rows } = await database.owner.query<{ count: number }>(text)
  return rows[0]?.count ?? 0
}

/** A digest of all rows. */
async function digest(): Promise<unknown> {
  const parts = tables.map(
    (table) =>
      `(select md5(string_agg(t::text, '|' order by t::text)) from ${schema}.${table} t) as ${table}`,
  )
  return (await database.owner.query(`select ${parts.join()}`)).rows[0]
}

test('live families and unanswered updates survive a migration that is cut off at any statement, and end as they should', async () => {
  const client = await database.owner.connect()
  await migrateOn(client as unknown as Client, names, migrations.slice(0, version))
  await copyGolden('0.1.0-together.db', client, schema)
  client.release()
  const families = `$run_info f join $runs child using (run) join $runs parent on parent.id = f.parent
    where child.state = 0 and parent.state = 0`
  expect(await count(families)).toBeGreaterThan(10)
  for (const kind of ['update', 'ended', 'watch'] as const) {
    const unread = `$messages where not used and kind = ${messageKindCode.numberOf[kind]}`
    expect(await count(unread), kind).toBeGreaterThan(0)
  }

  const before = await digest()
  for (let statement = 1; ; statement++) {
    const cutOff = await database.owner.connect()
    cutOff.on('error', () => {})
    const error = await migrateOn(endBefore(cutOff, statement), names).then(
      () => null,
      (reason: unknown) => reason,
    )
    cutOff.release(true)
    if (error === null) {
      expect(statement).toBeGreaterThan(10)
      break
    }
    expect(await digest(), `cut off before statement ${statement}`).toEqual(before)
  }

  const { complaints, problems, recorded, done } = await finishRuns(() =>
    postgres(database.ownerUrl, { schema }),
  )
  expect(complaints).toEqual([])
  expect(problems).toEqual([])
  expect(recorded.length).toBeGreaterThan(50)
  expect(done.length).toBeGreaterThan(50)
  expect(done.filter((step) => recorded.includes(step))).toEqual([])
})

/** The same client, whose session the server ends before that statement. */
function endBefore(client: pg.PoolClient, statement: number): Client {
  const { processID } = client as unknown as { readonly processID: number }
  let seen = 0
  return new Proxy(client as unknown as Client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'query') return member.bind(target)
      return async (config: unknown) => {
        if (++seen === statement)
          await database.owner.query('select pg_terminate_backend($1, 5000)', [processID])
        return Reflect.apply(member, target, [config])
      }
    },
  })
}
