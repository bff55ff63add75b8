import { connectTo, defineStore, type Store, type StorePort } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { storeConformance, storeDifferential } from '@pawl/testing/conformance'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PostgresServer } from '../../../scripts/postgres/server.ts'
import { changeUrl, makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { hasPgBouncer, PgBouncer } from './support/pgbouncer.ts'
import { makeSubject } from './support/place.ts'
import { createOwned, newUnit, open } from './support/units.ts'

if (!hasPgBouncer) console.log('PgBouncer is not installed: what goes through it is not tested.')

describe.skipIf(!hasPgBouncer)('through PgBouncer in transaction mode', () => {
  let server: PostgresServer
  let bouncer: PgBouncer
  let database: TestDatabase
  let url: string
  beforeAll(async () => {
    server = await PostgresServer.start()
    database = await makeDatabase({ server: server.url() })
    bouncer = await PgBouncer.start(server.port, 4)
    url = changeUrl(database.url, { port: bouncer.port })
  })
  afterAll(async () => {
    await bouncer.stop()
    await database.remove()
    await server.remove()
  })

  const subject = makeSubject(
    'postgres behind PgBouncer',
    () => database,
    () => withDirectHints(postgres(url, { prepared: false }), postgres(database.url)),
  )
  storeConformance(subject)
  storeDifferential(subject, { streams: 20, length: 100, atLeast: 0 })

  test('through PgBouncer everything works without prepared statements and notifications', async () => {
    const port = await open(postgres(url, { prepared: false, notifications: false }))
    const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
    const standings = await createOwned(
      port,
      worker,
      Array.from({ length: 50 }, (_, index) => `bounced ${index}`),
    )
    for (let head = 1; head < 20; head++) {
      // Eleven calls at once on four server connections.
      const calls = standings.map((standing) => port.log.commit(worker, [newUnit({ ...standing, head })]))
      for (const [outcome] of await Promise.all(calls)) expect(outcome).toMatchObject({ outcome: 'ok' })
      expect(await port.workers.beat(worker)).toBe(true)
    }
    await port.close()
  })

  test('through PgBouncer prepared statements are refused with the remedy', async () => {
    const ports = await Promise.all([open(postgres(url)), open(postgres(url))])
    const work = (port: StorePort): readonly Promise<unknown>[] =>
      Array.from({ length: 200 }, (_, index) =>
        port.runs.find(`run ${index}`).then(() => port.mail.list(index, 0)),
      )
    const [outcome] = await Promise.allSettled([Promise.all(ports.flatMap(work))])
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { code: 'store-unusable', details: { remedy: expect.stringContaining('prepared: false') } },
    })
    await Promise.all(ports.map((port) => port.close()))
  })
})

/** The store, with hints from another one: a session that listens cannot be shared. */
function withDirectHints(store: Store, direct: Store): Store {
  return defineStore('postgres', () => {
    const [port, hints] = [connectTo(store), connectTo(direct)]
    if (!port || !hints) throw new Error('The store was not made by defineStore.')
    const both: Partial<StorePort> = {
      async open() {
        await Promise.all([port.open(), hints.open()])
      },
      async close() {
        await Promise.all([port.close(), hints.close()])
      },
      watch: (onHint) => hints.watch(onHint),
    }
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(both, name) ?? Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  })
}
