import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StorePort, Unit } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  changeUrl,
  isServerGiven,
  makeDatabase,
  runOn,
  type TestDatabase,
} from '../../../test/support/postgres-database.ts'
import { PostgresServer } from '../../../test/support/postgres-server.ts'
import { TcpProxy } from '../../../test/support/tcp-proxy.ts'
import { Ledger } from './support/ledger.ts'
import { bytes, createOwned, newEvent, newUnit, open, order, type Standing, until } from './support/units.ts'

// A primary and a standby made from a copy of its data directory. The store reaches whichever is primary
// through one address, as behind a proxy or a name.
describe.skipIf(isServerGiven)('when a standby takes over', () => {
  let primary: PostgresServer
  let standby: PostgresServer
  let database: TestDatabase
  let address: TcpProxy
  let port: StorePort
  let worker: number

  beforeEach(async () => {
    primary = await PostgresServer.start()
    database = await makeDatabase({ server: primary.url() })
    const directory = await copyColdly()
    standby = await PostgresServer.start({ directory })
    address = await TcpProxy.start({ targetPort: primary.port })
    port = await open(postgres(changeUrl(database.url, { port: address.port })))
    worker = await port.register({ name: 'w', leaseMs: 60_000 })
  })
  afterEach(async () => {
    await port.close()
    await address.stop()
    await database.owner.end()
    await primary.remove()
    await standby.remove()
  })

  test('and commits wait for it, nothing that was acknowledged is lost; before that it is not used', async () => {
    await runOn(primary.url(), `alter system set synchronous_standby_names = 'standby'`)
    await runOn(primary.url(), 'select pg_reload_conf()')
    await refusesStandby()
    const ledger = new Ledger()
    const standings = await createOwned(port, worker, ['a', 'b', 'c', 'd'])
    for (const { run } of standings) ledger.noteCreated(run, 'started')
    let isOver = false
    const work = Promise.all(standings.map((standing) => step(standing, ledger, () => isOver)))
    work.catch(() => {})
    await until(() => ledger.count > 100)
    await primary.stop('immediate')
    await failOver()
    const before = ledger.count
    await until(() => ledger.count > before + 100)
    isOver = true
    await work
    expect(await compareOnStandby(ledger)).toEqual({ lost: 0, foreign: 0, gaps: 0 })
  })

  test('and commits did not wait for it, a run whose events are gone is found out and can be stopped', async () => {
    const [a, b, c] = await createOwned(port, worker, ['a', 'b', 'c'])
    if (!a || !b || !c) throw new Error('not created')
    await commit(a)
    await commit(b)
    await commit(c, { then: { do: 'park', wakeAt: null } })
    await caughtUp()
    // From here on the standby is behind: it knows nothing of another event of a, nor that c was claimed.
    await standby.stop('immediate')
    await commit(a)
    await port.send([{ run: 'c', kind: 'signal', name: 's', key: null, payload: null }], null)
    const { runs } = await port.claim({ worker, procedures: [order] }, 1)
    expect(runs).toMatchObject([{ id: 'c', epoch: 2 }])
    await primary.stop('immediate')
    await standby.start()
    await failOver()
    const outcomes = await port.commit(worker, [newUnit(a), newUnit(b), newUnit({ ...c, epoch: 2 })])
    // Nothing is written on top of a history that is gone; whatever is whole goes on.
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['conflict', 'ok', 'conflict'])
    expect(await port.load(a.run, 0, 10)).toHaveLength(2)
    expect(await port.mark(worker, a.run, a.epoch, 'quarantined', bytes('lost'))).toBe(true)
    expect(await port.mark(worker, c.run, 2, 'quarantined', bytes('lost'))).toBe(true)
    expect(await port.find('a')).toMatchObject({ mark: 'quarantined', owned: false })
    expect(await port.find('c')).toMatchObject({ mark: 'quarantined', owned: false, wakeAt: null })
    expect((await port.claim({ worker, procedures: [order] }, 10)).runs).toEqual([])
  })

  /** Copies the data directory while the server is stopped, and makes the copy a standby. */
  async function copyColdly(): Promise<string> {
    await primary.stop('fast')
    const directory = primary.copyData()
    const data = join(directory, 'data')
    writeFileSync(join(data, 'standby.signal'), '')
    appendFileSync(
      join(data, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres application_name=standby'\n`,
    )
    await primary.start()
    return directory
  }

  /** Neither to begin with, nor when it answers in place of the primary later on. */
  async function refusesStandby(): Promise<void> {
    const url = changeUrl(database.url, { port: standby.port })
    await expect(open(postgres(url))).rejects.toMatchObject({
      code: 'store-unusable',
      message: expect.stringContaining('standby'),
      details: { remedy: 'Connect to the primary.' },
    })
    address.targetPort = standby.port
    address.cut()
    await until(async () => {
      const outcome = await port
        .claim({ worker, procedures: [order] }, 1)
        .catch((error: Error) => error.message)
      return typeof outcome === 'string' && outcome.includes('the server is a standby')
    })
    const found = port.find('nothing')
    address.targetPort = primary.port
    expect(await found).toBeNull()
  }

  async function caughtUp(): Promise<void> {
    await until(async () => {
      const { rows } = await runOn(
        primary.url(),
        'select coalesce(bool_and(replay_lsn = pg_current_wal_lsn()), false) as done from pg_stat_replication',
      )
      return rows[0].done
    })
  }

  async function failOver(): Promise<void> {
    standby.promote()
    address.targetPort = standby.port
    address.cut()
  }

  async function commit(standing: Standing, overrides: Partial<Unit> = {}): Promise<void> {
    const [outcome] = await port.commit(worker, [newUnit(standing, overrides)])
    expect(outcome).toMatchObject({ outcome: 'ok' })
    standing.head++
  }

  async function step(standing: Standing, ledger: Ledger, isOver: () => boolean): Promise<void> {
    for (let serial = 0; !isOver(); serial++) {
      const unit = newUnit(standing, { events: [newEvent(`${standing.run}/${serial}`)] })
      const [outcome] = await port.commit(worker, [unit])
      if (outcome?.outcome === 'ok') {
        ledger.note(unit)
        standing.head++
      } else if (outcome?.outcome !== 'lost') throw new Error(`a unit was ${outcome?.outcome}`)
      standing.epoch = outcome.epoch
    }
  }

  async function compareOnStandby(ledger: Ledger): Promise<unknown> {
    const owner = new pg.Pool({ connectionString: changeUrl(database.ownerUrl, { port: standby.port }) })
    try {
      return await ledger.compare(owner)
    } finally {
      await owner.end()
    }
  }
})
