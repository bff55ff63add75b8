import { existsSync, rmSync } from 'node:fs'
import type { StorePort, Unit, UnitOutcome } from '@pawl/core/storage'
import { PawlError } from '@pawl/core/storage'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connect, sqliteError } from '../../../test/support/sqlite.ts'
import type { Database } from '../src/connection/database.ts'
import { dumpFile } from './support/dump.ts'
import { changedConnections } from './support/environments.ts'
import { startProgram } from './support/programs.ts'
import { ownedRun, refund, run, type Standing, step } from './support/runs.ts'
import { openStore, tempFile } from './support/stores.ts'

/** Makes the next commits fail as a disk would: `before` they reach it, or `after` they are on it. */
class BrokenDisk {
  readonly #faults: ('before' | 'after')[] = []
  readonly environment = changedConnections((database) => this.#install(database))

  fail(...when: ('before' | 'after')[]): void {
    this.#faults.push(...when)
  }

  #install(database: Database): Database {
    const prepare = database.prepare.bind(database)
    const install = (sql: string) => {
      const statement = prepare(sql)
      if (sql !== 'commit') return statement
      const run = statement.run.bind(statement)
      statement.run = () => {
        const fault = this.#faults.shift()
        if (fault === undefined) return run()
        prepare(fault === 'after' ? 'commit' : 'rollback').run()
        throw sqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC')
      }
      return statement
    }
    database.prepare = install as typeof database.prepare
    return database
  }
}

async function commitOn(
  disk: BrokenDisk,
  change: (standing: Standing) => Unit,
  ...when: ('before' | 'after')[]
) {
  const file = tempFile()
  const store = await openStore(file, disk.environment)
  const standing = await ownedRun(store, 'a')
  disk.fail(...when)
  const [outcome] = (await store.log.commit(standing.worker, [change(standing)])) as [UnitOutcome]
  return { file, store, standing, outcome }
}

describe('a disk that fails in the moment of a commit', () => {
  it('a unit that did not land before a disk fault is lost, and its run stays owned with a new epoch', async () => {
    const { store, standing, outcome } = await commitOn(new BrokenDisk(), step, 'before')
    expect(outcome).toEqual({ outcome: 'lost', epoch: 2 })
    expect(await store.log.load(standing.run, 0, 10)).toHaveLength(1)
    expect(await store.log.commit(standing.worker, [step(standing)])).toEqual([{ outcome: 'fenced' }])
    expect(await store.log.commit(standing.worker, [step({ ...standing, epoch: 2 })])).toMatchObject([
      { outcome: 'ok' },
    ])
  })

  it('a unit that landed before a disk fault is acknowledged, and its run stays owned with a new epoch', async () => {
    const { store, standing, outcome } = await commitOn(new BrokenDisk(), step, 'after')
    expect(outcome).toMatchObject({ outcome: 'ok', epoch: 2, parked: false })
    expect(await store.log.load(standing.run, 0, 10)).toHaveLength(2)
    expect(await store.log.commit(standing.worker, [step({ ...standing, epoch: 2, head: 2 })])).toMatchObject(
      [{ outcome: 'ok', epoch: 2 }],
    )
  })

  it('a run parked by a unit that landed is parked', async () => {
    const park = (standing: Standing): Unit => ({ ...step(standing), next: { do: 'park', wakeAt: null } })
    // Not known before the disk has failed some more, and time has passed.
    const { store, standing, outcome } = await commitOn(new BrokenDisk(), park, 'after', 'after', 'after')
    const [event] = await store.log.load(standing.run, 1, 1)
    expect(outcome).toMatchObject({ outcome: 'ok', at: event?.at, epoch: 1, parked: true })
    expect(await store.runs.find('a')).toMatchObject({ owned: false, head: 2 })
  })

  it('a run whose parking did not land is lost and stays owned', async () => {
    const park = (standing: Standing): Unit => ({ ...step(standing), next: { do: 'park', wakeAt: null } })
    const { store, outcome } = await commitOn(new BrokenDisk(), park, 'before')
    expect(outcome).toEqual({ outcome: 'lost', epoch: 2 })
    expect(await store.runs.find('a')).toMatchObject({ owned: true, head: 1 })
  })

  it('a run ended by a unit that landed is ended', async () => {
    const end = (standing: Standing): Unit => ({ ...step(standing), next: { do: 'end', state: 'completed' } })
    const { store, outcome } = await commitOn(new BrokenDisk(), end, 'after')
    expect(outcome).toMatchObject({ outcome: 'ok', parked: false })
    expect(await store.runs.find('a')).toMatchObject({ state: 'completed' })
  })

  it('a failing disk is asked again until it responds', async () => {
    for (const [first, expected] of [
      ['before', { outcome: 'lost', epoch: 4 }],
      ['after', { outcome: 'ok', epoch: 4 }],
    ] as const) {
      const { store, standing, outcome } = await commitOn(new BrokenDisk(), step, first, 'after', 'after')
      expect(outcome).toMatchObject(expected)
      const [event] = await store.log.load(standing.run, 1, 1)
      // What a replay will read: the time of the commit, however long it took to find out about it.
      if (first === 'after') expect(outcome).toMatchObject({ at: event?.at })
      const next = { ...standing, epoch: 4, head: first === 'after' ? 2 : 1 }
      expect(await store.log.commit(standing.worker, [step(next)])).toMatchObject([{ outcome: 'ok' }])
    }
  })

  it('a file that is deleted meanwhile is not created again, and nothing more is acknowledged', async () => {
    const disk = new BrokenDisk()
    const file = tempFile()
    const store = await openStore(file, disk.environment)
    const standing = await ownedRun(store, 'a')
    disk.fail('before')
    const committing = store.log.commit(standing.worker, [step(standing)])
    rmSync(file)
    await expect(committing).rejects.toThrow('was replaced or deleted')
    await expect(store.runs.find('a')).rejects.toThrow('was replaced or deleted')
    expect(existsSync(file)).toBe(false)
  })

  it('every unit of a call with a disk fault gets its own outcome', async () => {
    const disk = new BrokenDisk()
    const store = await openStore(tempFile(), disk.environment)
    const [a, b] = [await ownedRun(store, 'a'), await ownedRun(store, 'b')]
    const other = { ...b, worker: a.worker }
    disk.fail('after')
    expect(await store.log.commit(a.worker, [step(a), step(other)])).toMatchObject([
      { outcome: 'ok', epoch: 2 },
      { outcome: 'fenced' },
    ])
  })

  it('a call that waited for a connection that failed again gets the next one', async () => {
    const disk = new BrokenDisk()
    const store = await openStore(tempFile(), disk.environment)
    const standing = await ownedRun(store, 'a')
    let { epoch } = standing
    // Whenever they come: before the writer on the new connection, or after.
    for (let moments = 0; moments < 30; moments++) {
      disk.fail('before', 'before')
      const committing = store.log.commit(standing.worker, [step({ ...standing, epoch })])
      for (let moment = 0; moment < moments; moment++) await null
      const reading = Array.from({ length: 5 }, () => store.runs.find('a'))
      expect(await Promise.all(reading)).toHaveLength(5)
      expect(await committing).toEqual([{ outcome: 'lost', epoch: ++epoch }])
    }
  })

  it('a call other than a commit rejects, and reports that the outcome is unknown', async () => {
    const disk = new BrokenDisk()
    const store = await openStore(tempFile(), disk.environment)
    await ownedRun(store, 'a')
    disk.fail('after')
    const message = { run: 'a', kind: 'signal', name: 'paid', key: 'k', by: null, payload: null } as const
    await expect(store.mail.send([message], null)).rejects.toMatchObject({
      code: 'store-unusable',
      message: expect.stringContaining('may or may not be stored'),
    })
    // Sent again with its key it is not stored twice.
    expect(await store.mail.send([message], null)).toMatchObject([{ outcome: 'duplicate' }])
  })
})

describe('a disk that fails in the moment in which a worker is given a run', () => {
  // The worker is not told: it must not own anything.
  async function expectNobodyOwns(store: StorePort): Promise<void> {
    expect(await store.runs.find('a')).toMatchObject({ owned: false, wakeAt: expect.any(Number) })
    const claimant = {
      worker: await store.workers.register({ name: 'w', leaseMs: 1000 }),
      procedures: refund,
    }
    expect((await store.claims.claim(claimant, 10)).runs).toMatchObject([{ id: 'a' }])
  }

  it.each(['before', 'after'] as const)('by a claim (%s)', async (when) => {
    const disk = new BrokenDisk()
    const store = await openStore(tempFile(), disk.environment)
    const { worker } = await ownedRun(store, 'a')
    await store.workers.release(worker)
    const claimant = {
      worker: await store.workers.register({ name: 'w', leaseMs: 60_000 }),
      procedures: refund,
    }
    disk.fail(when, 'after')
    await expect(store.claims.claim(claimant, 10)).rejects.toThrow('may or may not be stored')
    await expectNobodyOwns(store)
  })

  it('a disk fault while a message gives a worker a run releases the run', async () => {
    const disk = new BrokenDisk()
    const store = await openStore(tempFile(), disk.environment)
    const standing = await ownedRun(store, 'a')
    await store.log.commit(standing.worker, [{ ...step(standing), next: { do: 'park', wakeAt: null } }])
    disk.fail('after')
    const message = { run: 'a', kind: 'signal', name: 'paid', key: null, by: null, payload: null } as const
    await expect(store.mail.send([message], { worker: standing.worker, procedures: refund })).rejects.toThrow(
      'may or may not be stored',
    )
    await expectNobodyOwns(store)
  })

  it('a disk fault while a creation gives a worker a run releases the run', async () => {
    const disk = new BrokenDisk()
    const store = await openStore(tempFile(), disk.environment)
    const worker = await store.workers.register({ name: 'w', leaseMs: 60_000 })
    disk.fail('after')
    await expect(store.runs.create([run('a', worker)])).rejects.toThrow('may or may not be stored')
    await expectNobodyOwns(store)
  })
})

it('commits to a file that cannot grow are lost or stored as reported', async () => {
  const file = tempFile()
  const program = await startProgram('limited', [file], { fileLimitBlocks: 2000 })
  const { acknowledged, lost } = JSON.parse((await program.line()) ?? '') as {
    acknowledged: string[]
    lost: string[]
  }
  expect(await program.end()).toBe(0)
  const names = new Set(dumpFile(file).events.map(({ name }) => name))
  expect(acknowledged.length).toBeGreaterThan(20)
  expect(acknowledged.filter((name) => !names.has(name))).toEqual([])
  expect(lost.length).toBeGreaterThan(0)
  expect(lost.filter((name) => names.has(name))).toEqual([])
})

describe('a full disk', () => {
  it('a full disk refuses the call, stores nothing of it, and works again with free space', async () => {
    const opened: Database[] = []
    const file = tempFile()
    const store = await openStore(
      file,
      changedConnections((database) => void opened.push(database)),
    )
    const standing = await ownedRun(store, 'a')
    const [database] = opened
    database?.pragma(`max_page_count = ${Number(database.pragma('page_count', { simple: true }))}`)
    let head = 1
    const error = await (async () => {
      for (;;) {
        const [outcome] = await store.log.commit(standing.worker, [
          step({ ...standing, head }, new Uint8Array(5000)),
        ])
        expect(outcome).toMatchObject({ outcome: 'ok' })
        head++
      }
    })().catch((reason: unknown) => reason)
    if (!PawlError.is(error, 'store-unusable')) throw error
    expect(error.message).toContain(`The disk of ${file} is full`)
    expect(error.details.remedy).toContain('repeat the call')
    expect(await store.runs.find('a')).toMatchObject({ head })
    expect(dumpFile(file).events).toHaveLength(head)
    database?.pragma('max_page_count = 1000000')
    expect(
      await store.log.commit(standing.worker, [step({ ...standing, head }, new Uint8Array(5000))]),
    ).toMatchObject([{ outcome: 'ok' }])
  })
})

describe('a damaged log', () => {
  it('a taken seq although the fence held is a conflict, and affects no neighbour', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const a = await ownedRun(store, 'a')
    const runs = [a]
    for (const id of ['b', 'c']) runs.push({ ...(await ownedRun(store, id)), worker: a.worker })
    const database = connect(file)
    onTestFinished(() => void database.close())
    database.prepare('update runs set worker = ?').run(a.worker)
    // An event of b that its row knows nothing of.
    database.exec(
      `insert into events select run, 1, at, epoch, type, position, turn, kind, nth, failed, took_ms, name, payload, link
       from events where run = 2`,
    )
    const outcomes = await store.log.commit(
      a.worker,
      runs.map((standing) => step(standing)),
    )
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['ok', 'conflict', 'ok'])
    expect(await store.runs.find('b')).toMatchObject({ head: 1 })
  })

  it('a run whose log is shorter than before is a conflict for its worker', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const standing = await ownedRun(store, 'a')
    await store.log.commit(standing.worker, [step(standing)])
    const database = connect(file)
    onTestFinished(() => void database.close())
    // What is left when the end of the -wal is gone.
    database.exec('delete from events where seq = 1; update runs set head = 1')
    expect(await store.log.commit(standing.worker, [step({ ...standing, head: 2 })])).toEqual([
      { outcome: 'conflict' },
    ])
  })

  it.each(['head', 'epoch', 'mail'])(
    'a run with a number beyond 2^53 as its %s is not claimed, and keeps no other from being claimed',
    async (column) => {
      const file = tempFile()
      const store = await openStore(file)
      const { worker } = await ownedRun(store, 'a')
      await store.runs.create([run('b', worker)])
      await store.workers.release(worker)
      const database = connect(file)
      onTestFinished(() => void database.close())
      // The driver reads this as …992.
      database.prepare(`update runs set ${column} = ? where id = 'a'`).run(9007199254740993n)
      const claimant = {
        worker: await store.workers.register({ name: 'w', leaseMs: 1000 }),
        procedures: refund,
      }
      expect((await store.claims.claim(claimant, 10)).runs).toMatchObject([{ id: 'b' }])
      const { head, mail } = (await store.runs.find('a')) ?? { head: 0, mail: 0 }
      expect(Math.max(head, mail)).toBeOneOf([1, 2 ** 53])
    },
  )

  it.each(['seq', 'at', 'epoch'] as const)(
    'a number beyond 2^53 as the %s of an event comes as one that is not safe',
    async (column) => {
      const file = tempFile()
      const store = await openStore(file)
      const { run } = await ownedRun(store, 'a')
      const database = connect(file)
      onTestFinished(() => void database.close())
      database.prepare(`update events set ${column} = ?`).run(9007199254740993n)
      const [event] = await store.log.load(run, 0, 10)
      expect(Number.isSafeInteger(event?.[column])).toBe(false)
    },
  )

  it('an event type of a newer version is returned as its number', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const { run } = await ownedRun(store, 'a')
    const database = connect(file)
    onTestFinished(() => void database.close())
    database.exec('update events set type = 99, kind = 98')
    expect(await store.log.load(run, 0, 10)).toMatchObject([{ type: 99, kind: 98 }])
  })

  it('an invalid list of names is returned as null', async () => {
    const file = tempFile()
    const store = await openStore(file)
    await ownedRun(store, 'a')
    const database = connect(file)
    onTestFinished(() => void database.close())
    for (const tags of ['{', '{}', '[1]']) {
      database.prepare('update run_info set tags = ?').run(tags)
      expect(await store.runs.find('a')).toMatchObject({ tags: null })
    }
  })

  it('a damaged page is named, with the file and the remedy', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const standing = await ownedRun(store, 'a')
    await store.close()
    const { openSync, writeSync, closeSync } = await import('node:fs')
    const database = connect(file)
    const page = database
      .prepare("select rootpage from sqlite_schema where name = 'events'")
      .pluck()
      .get() as number
    database.close()
    const handle = openSync(file, 'r+')
    writeSync(handle, Buffer.alloc(2048, 0xff), 0, 2048, (page - 1) * 2048)
    closeSync(handle)
    const again = await openStore(file)
    const error = await again.log.load(standing.run, 0, 10).catch((reason: unknown) => reason)
    if (!PawlError.is(error, 'store-unusable')) throw error
    expect(error.message).toContain(`${file} is damaged`)
    expect(error.details.remedy).toContain('restore a backup')
  })
})

it('a check of a locked file is skipped, and the next one reports', async () => {
  let isLocked = false
  const environment = changedConnections((database) => {
    const prepare = database.prepare.bind(database)
    const install = (sql: string) => {
      const statement = prepare(sql)
      if (sql !== 'pragma data_version') return statement
      const version = statement.pluck()
      const get = () => {
        // As while another process puts the index of the -wal right.
        if (isLocked) throw sqliteError('database is locked', 'SQLITE_BUSY_RECOVERY')
        return version.get()
      }
      return { pluck: () => ({ get }) }
    }
    database.prepare = install as unknown as typeof database.prepare
    return database
  })
  const file = tempFile()
  const store = await openStore(file, environment)
  const other = await openStore(file)
  const received = new Promise<void>((resolve) => onTestFinished(store.watch(resolve)))
  isLocked = true
  await other.workers.register({ name: 'w', leaseMs: 1000 })
  await new Promise((resolve) => setTimeout(resolve, 10))
  isLocked = false
  await received
})
