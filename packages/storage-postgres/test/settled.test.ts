import { createClient } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { expect, test } from 'vitest'
import { makeDatabase } from '../../../test/support/postgres-database.ts'
import { isSettled } from '../src/internal.ts'

test('a database is settled once its schema is up to date, and the check changes nothing', async () => {
  const database = await makeDatabase()
  try {
    const check = () => isSettled(database.ownerUrl, 'checked')
    const versions = async () =>
      (await database.owner.query('select max(version) as newest from checked.migrations')).rows
    expect(await check()).toBe(false)
    await expect(versions()).rejects.toThrow('does not exist')
    const client = createClient({ store: postgres(database.ownerUrl, { schema: 'checked' }) })
    await client.list()
    await client.stop()
    expect(await check()).toBe(true)
    await database.owner.query('delete from checked.migrations where version > 9')
    expect(await check()).toBe(false)
    expect(await versions()).toEqual([{ newest: 9 }])
    await database.owner.query("insert into checked.migrations values (10000, 'later', 0)")
    await expect(check()).rejects.toMatchObject({ code: 'store-unusable' })
  } finally {
    await database.owner.query('drop schema if exists checked cascade')
    await database.remove()
  }
})
