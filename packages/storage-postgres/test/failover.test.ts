import type { StorePort, Unit } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  changeUrl,
  isServerGiven,
  makeDatabase,
  type TestDatabase,
} from '../../../test/support/postgres-database.ts'
import { Ledger } from './support/ledger.ts'
import { ServerPair } from './support/server-pair.ts'
import { bytes, createOwned, newEvent, newUnit, open, order, type Standing, until } from './support/units.ts'

describe.skipIf(isServerGiven)('when a standby takes over', () => {
  let pair: ServerPair
  let database: TestDatabase
  let port: StorePort
  let worker: number

  beforeEach(async () => {
    pair = await ServerPair.start()
    database = await makeDatabase({ server: pair.url })
    await pair.addStandby()
    port = await open(postgres(database.url))
    worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  })
  afterEach(async () => {
    await port.close()
    await database.owner.end()
    await pair.remove()
  })

  test('a takeover by a standby that confirms commits loses nothing; before that the standby is not used', async () => {
    await pair.makeSynchronous()
    await refusesStandby()
    const ledger = new Ledger()
    const standings = await createOwned(port, worker, ['a', 'b', 'c', 'd'])
    for (const { run } of standings) ledger.noteCreated(run, 'started')
    let isOver = false
    const work = Promise.all(standings.map((standing) => step(standing, ledger, () => isOver)))
    work.catch(() => {})
    await until(() => ledger.count > 100)
    await pair.primary.stop('immediate')
    pair.promote()
    await pair.switchOver()
    const before = ledger.count
    await until(() => ledger.count > before + 100)
    isOver = true
    await work
    expect(await ledger.compare(database.owner)).toEqual({ lost: 0, foreign: 0, gaps: 0 })
  })

  test('a takeover by a standby that does not confirm commits is noticed by a run whose events are missing', async () => {
    const [a, b, c, d] = await createOwned(port, worker, ['a', 'b', 'c', 'd'])
    if (!a || !b || !c || !d) throw new Error('not created')
    await commit(a)
    await commit(b)
    await commit(c, { next: { do: 'park', wakeAt: null } })
    await pair.caughtUp()
    // From here on the standby is behind: it knows nothing of another event of a, nor that c was claimed.
    await pair.standby.stop('immediate')
    await commit(a)
    await port.mail.send([{ run: 'c', kind: 'signal', name: 's', key: null, by: null, payload: null }], null)
    const { runs } = await port.claims.claim({ worker, procedures: [order] }, 1)
    expect(runs).toMatchObject([{ id: 'c', epoch: 2 }])
    // Under way when the primary dies: what becomes of it is asked of the new one.
    await commit(d)
    pair.address.decide = () => 'lose'
    const underWay = port.log.commit(worker, [newUnit(d)])
    await pair.primary.stop('immediate')
    await pair.standby.start()
    pair.promote()
    pair.address.decide = () => 'pass'
    await pair.switchOver()
    const outcomes = await port.log.commit(worker, [newUnit(a), newUnit(b), newUnit({ ...c, epoch: 2 })])
    // Nothing is written on top of a history that is gone; undamaged runs continue.
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['conflict', 'ok', 'conflict'])
    expect(await underWay).toEqual([{ outcome: 'conflict' }])
    expect(await port.log.load(a.run, 0, 10)).toHaveLength(2)
    expect(await port.log.load(d.run, 0, 10)).toHaveLength(1)
    expect(await port.runs.mark(worker, a.run, a.epoch, 'quarantined', bytes('lost'))).toBe(true)
    expect(await port.runs.mark(worker, c.run, 2, 'quarantined', bytes('lost'))).toBe(true)
    expect(await port.runs.mark(worker, d.run, d.epoch, 'quarantined', bytes('lost'))).toBe(true)
    expect(await port.runs.find('a')).toMatchObject({ mark: 'quarantined', owned: false })
    expect(await port.runs.find('c')).toMatchObject({ mark: 'quarantined', owned: false, wakeAt: null })
    expect((await port.claims.claim({ worker, procedures: [order] }, 10)).runs).toEqual([])
  })

  /** Neither to begin with, nor when it answers in place of the primary later on. */
  async function refusesStandby(): Promise<void> {
    const url = changeUrl(database.url, { port: pair.standby.port })
    await expect(open(postgres(url))).rejects.toMatchObject({
      code: 'store-unusable',
      message: expect.stringContaining('standby'),
      details: { remedy: 'Connect to the primary.' },
    })
    pair.address.targetPort = pair.standby.port
    pair.address.cut()
    await until(async () => {
      const outcome = await port.claims
        .claim({ worker, procedures: [order] }, 1)
        .catch((error: Error) => error.message)
      return typeof outcome === 'string' && outcome.includes('the server is a standby')
    })
    const found = port.runs.find('nothing')
    pair.address.targetPort = pair.primary.port
    expect(await found).toBeNull()
  }

  async function commit(standing: Standing, overrides: Partial<Unit> = {}): Promise<void> {
    const [outcome] = await port.log.commit(worker, [newUnit(standing, overrides)])
    expect(outcome).toMatchObject({ outcome: 'ok' })
    standing.head++
  }

  async function step(standing: Standing, ledger: Ledger, isOver: () => boolean): Promise<void> {
    for (let serial = 0; !isOver(); serial++) {
      const unit = newUnit(standing, { events: [newEvent(`${standing.run}/${serial}`)] })
      const [outcome] = await port.log.commit(worker, [unit])
      if (outcome?.outcome === 'ok') {
        ledger.note(unit)
        standing.head++
      } else if (outcome?.outcome !== 'lost') throw new Error(`a unit was ${outcome?.outcome}`)
      standing.epoch = outcome.epoch
    }
  }
})
