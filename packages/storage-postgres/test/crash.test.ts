import { postgres } from '@pawl/storage-postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PostgresServer } from '../../../scripts/postgres/server.ts'
import {
  isServerGiven,
  makeDatabase,
  runOn,
  type TestDatabase,
} from '../../../test/support/postgres-database.ts'
import { workThroughCrashes } from './support/crashing-server.ts'
import { createOwned, newRun, newUnit, open, until } from './support/units.ts'

// A server of their own, which these tests stop, starve and deceive.
describe.skipIf(isServerGiven)('a server that', () => {
  let server: PostgresServer
  let database: TestDatabase
  beforeAll(async () => {
    server = await PostgresServer.start()
    database = await makeDatabase({ server: server.url() })
  })
  afterAll(async () => {
    await database.remove()
    await server.remove()
  })

  test('a server that crashes repeatedly loses, repeats and invents nothing', async () => {
    const port = await open(postgres(database.url))
    const { ledger, reclaimed } = await workThroughCrashes({ server, port, crashes: 4 })
    expect(reclaimed).toBeGreaterThan(0)
    expect(await ledger.compare(database.owner)).toEqual({ lost: 0, foreign: 0, gaps: 0 })
    const { rows } = await database.owner.query(
      `select count(*)::int as count from pawl.runs r where r.id like 'new %' and r.mail <> (select count(*) from pawl.messages m where m.run = r.run)`,
    )
    expect(rows).toEqual([{ count: 0 }])
    await port.close()
  })

  const ends = [{ do: 'keep' }, { do: 'park', wakeAt: null }, { do: 'end', state: 'completed' }] as const
  test.for(ends)(
    'cannot tell whether a standby has a commit ($do) is asked again until it can',
    async (then) => {
      const port = await open(postgres(database.url))
      const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
      const [a] = await createOwned(port, worker, [`unconfirmed ${then.do}`])
      if (!a) throw new Error('not created')
      await awaitStandby()
      const committed = port.log.commit(worker, [newUnit(a, { next: then })])
      let isKnown = false
      void committed.then(() => {
        isKnown = true
      })
      // The administrator ends the wait: PostgreSQL warns and reports success, also for the next commit.
      for (let cancelled = 0; cancelled < 2; ) cancelled += await cancelWaiting('pawl_app')
      expect(isKnown).toBe(false)
      await configure("synchronous_standby_names = ''")
      // Landed, and confirmed by a later commit: nothing was written twice.
      expect(await committed).toMatchObject([{ outcome: 'ok' }])
      expect(await port.log.load(a.run, 0, 10)).toHaveLength(2)
      await port.close()
    },
  )

  test('a server that cannot tell whether a standby has a new run is asked again until it can', async () => {
    const port = await open(postgres(database.url))
    await awaitStandby()
    const created = port.runs.create([newRun('unconfirmed')])
    let isKnown = false
    void created.then(() => {
      isKnown = true
    })
    for (let cancelled = 0; cancelled < 2; ) cancelled += await cancelWaiting('pawl_app')
    expect(isKnown).toBe(false)
    await configure("synchronous_standby_names = ''")
    expect(await created).toMatchObject([{ outcome: 'created' }])
    await port.close()
  })

  test('a server without free connections is asked again', async () => {
    const port = await open(postgres(database.url))
    const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
    const [a] = await createOwned(port, worker, ['crowded'])
    if (!a) throw new Error('not created')
    await database.owner.query('alter role pawl_app connection limit 0')
    await database.owner.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'pawl_app'`,
    )
    const calls = Promise.all([port.log.commit(worker, [newUnit(a)]), port.runs.find('crowded')])
    await expect(port.claims.claim({ worker, procedures: [] }, 1)).rejects.toThrow('too many connections')
    await database.owner.query('alter role pawl_app connection limit -1')
    const [outcomes, row] = await calls
    expect(outcomes).toMatchObject([{ outcome: 'ok', epoch: 1 }])
    expect(row).toMatchObject({ id: 'crowded' })
    await port.close()
  })

  test('a server that is read-only for a while is asked again', async () => {
    const port = await open(postgres(database.url))
    const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
    const [a] = await createOwned(port, worker, ['read only'])
    if (!a) throw new Error('not created')
    await configure('default_transaction_read_only = on')
    await until(
      async () =>
        (await port.workers.beat(worker).catch((error: { code?: string }) => error.code)) === '25006',
    )
    const committed = port.log.commit(worker, [newUnit(a)])
    expect(await port.runs.find('read only')).toMatchObject({ head: 1 })
    await configure('default_transaction_read_only = off')
    expect(await committed).toMatchObject([{ outcome: 'ok', epoch: 1 }])
    await port.close()
  })

  test('a server with fsync off is refused, with the remedy', async () => {
    await configure('fsync = off')
    await until(async () => (await runOn(server.url(), 'show fsync')).rows[0].fsync === 'off')
    await expect(open(postgres(database.url))).rejects.toMatchObject({
      code: 'store-unusable',
      message: expect.stringContaining('fsync is off'),
      details: { remedy: expect.stringContaining('fsync = on') },
    })
    await configure('fsync = on')
  })

  async function configure(setting: string): Promise<void> {
    // What ends read-only mode must itself be allowed to write.
    const url = `${server.url()}?options=-c%20default_transaction_read_only%3Doff`
    await runOn(url, `alter system set ${setting}`)
    await runOn(url, 'select pg_reload_conf()')
  }

  /** Lets every commit wait for a standby that never comes, and returns when one has been seen to. */
  async function awaitStandby(): Promise<void> {
    await configure("synchronous_standby_names = 'nowhere'")
    for (let isOver = false; !isOver; ) {
      let isDone = false
      const probe = runOn(server.url(), `select pg_logical_emit_message(true, 'probe', '')`).finally(() => {
        isDone = true
      })
      while (!isDone && !isOver) isOver = (await cancelWaiting('postgres')) > 0
      await probe
    }
  }

  /** Cancels what waits for a standby; returns how many did. */
  async function cancelWaiting(user: string): Promise<number> {
    const { rowCount } = await runOn(
      server.url(),
      `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep' and usename = '${user}'`,
    )
    return rowCount ?? 0
  }
})
