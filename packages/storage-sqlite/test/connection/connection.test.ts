import { existsSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { connectTo, PawlError } from '@pawl/core/storage'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { connect, driver, sqliteStore } from '../../../../test/support/sqlite.ts'
import type { Database } from '../../src/connection/database.ts'
import { pause, pauseAfterFault } from '../../src/connection/retry.ts'
import { shortenWal } from '../../src/connection/wal.ts'
import { changedConnections } from '../support/environments.ts'
import { ownedRun, run, step } from '../support/runs.ts'
import { openStore, tempFile } from '../support/stores.ts'

/** A second connection that holds the write lock until the function is called. */
function holdLock(file: string): () => void {
  const database = connect(file)
  onTestFinished(() => void database.close())
  database.exec('begin immediate')
  return () => void database.exec('rollback')
}

describe('every connection', () => {
  it('every connection has WAL, synchronous=FULL, no waiting in the driver, and full syncs on macOS', async () => {
    const opened: Database[] = []
    const file = tempFile()
    await openStore(
      file,
      changedConnections((database) => void opened.push(database)),
    )
    await openStore(
      file,
      changedConnections((database) => void opened.push(database)),
    )
    const read = (pragma: string) => opened.map((database) => database.pragma(pragma, { simple: true }))
    expect(read('journal_mode')).toEqual(['wal', 'wal'])
    expect(read('synchronous')).toEqual([2, 2])
    expect(read('busy_timeout')).toEqual([0, 0])
    expect(read('fullfsync')).toEqual([1, 1])
    expect(read('checkpoint_fullfsync')).toEqual([1, 1])
  })

  it('control: a connection of better-sqlite3 would have less than FULL by default', () => {
    const database = connect(tempFile())
    onTestFinished(() => void database.close())
    database.pragma('journal_mode = wal')
    database.prepare('select count(*) from sqlite_schema').get()
    expect(database.pragma('synchronous', { simple: true })).toBe(driver === 'node' ? 2 : 1)
  })

  it('every transaction that writes begins as a writer, and nothing is written outside of one', async () => {
    const statements: string[] = []
    const watched = changedConnections((database) => {
      const prepare = database.prepare.bind(database)
      database.prepare = ((sql: string) => {
        statements.push(sql)
        return prepare(sql)
      }) as typeof database.prepare
      return database
    })
    await openStore(tempFile(), watched)
    expect(statements.filter((sql) => /^\s*begin/i.test(sql))).toEqual([
      // Only reads: a run that is exported, at one instant.
      'begin',
      'begin immediate',
    ])
  })
})

describe('a lock that another process holds', () => {
  it('a lock of another process is waited for without blocking the event loop', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const unit = await ownedRun(store, 'a')
    const release = holdLock(file)
    let isDone = false
    const committing = store.log.commit(unit.worker, [step(unit)]).finally(() => {
      isDone = true
    })
    // The driver's own waiting would block for all of its busy timeout, and then fail: no turn could come between.
    for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setTimeout(resolve, 1))
    expect(isDone).toBe(false)
    release()
    expect(await committing).toMatchObject([{ outcome: 'ok' }])
  })

  it('writes wait for a lock in order of arrival', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const release = holdLock(file)
    const waiting = Array.from({ length: 20 }, (_, index) =>
      store.workers.register({ name: `${index}`, leaseMs: 1000 }),
    )
    await new Promise((resolve) => setTimeout(resolve, 50))
    release()
    // And what comes when the lock is free does not overtake them.
    const late = store.workers.register({ name: 'late', leaseMs: 1000 })
    expect(await Promise.all([...waiting, late])).toEqual(Array.from({ length: 21 }, (_, index) => index + 1))
  })

  it('a lock of another process does not block readers', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const { run } = await ownedRun(store, 'a')
    onTestFinished(holdLock(file))
    expect(await store.log.load(run, 0, 10)).toHaveLength(1)
    expect(await store.claims.claim({ worker: 1, procedures: [] }, 10)).toMatchObject({ runs: [] })
  })

  it('a long wait for a lock is logged, at growing intervals', async () => {
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    onTestFinished(() => warnings.mockRestore())
    for (const attempt of [0, 1, 224, 225, 226, 449, 450, 899, 900, 901]) await pause(attempt, 'pawl.db')
    expect(warnings.mock.calls.map(([text]) => /waited (\d+) s/.exec(String(text))?.[1])).toEqual([
      '1',
      '2',
      '4',
    ])
  })

  it('a connection that waits for a lock can be closed', async () => {
    const file = tempFile()
    const store = await openStore(file)
    onTestFinished(holdLock(file))
    const registering = store.workers.register({ name: 'w', leaseMs: 1000 })
    await store.close()
    await expect(registering).rejects.toThrow('not open')
  })
})

it('a disk that keeps failing is logged at growing intervals', async () => {
  const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  onTestFinished(() => warnings.mockRestore())
  await Promise.all([0, 1, 2, 3, 4, 5].map((attempt) => pauseAfterFault(attempt, 'pawl.db')))
  expect(warnings.mock.calls.map(([text]) => /failed (\d+) times/.exec(String(text))?.[1])).toEqual([
    '1',
    '2',
    '4',
  ])
})

describe('a file that a link leads to', () => {
  const links = {
    'a link to the file': (file: string) => {
      const link = join(dirname(tempFile()), 'link.db')
      symlinkSync(file, link)
      return { name: link, link }
    },
    'a link to its directory': (file: string) => {
      const link = join(dirname(tempFile()), 'current')
      symlinkSync(dirname(file), link)
      return { name: join(link, basename(file)), link }
    },
  }

  it.each(Object.entries(links))(
    'is used as the file itself, wherever that leads later: %s',
    async (_, lay) => {
      const file = tempFile()
      await (await openStore(file)).close()
      const { name, link } = lay(file)
      const store = await openStore(name)
      const unit = await ownedRun(store, 'a')
      expect(await store.workers.beat(unit.worker)).toBe(true)
      rmSync(link)
      expect(await store.workers.beat(unit.worker)).toBe(true)
      expect(await (await openStore(file)).runs.find('a')).toMatchObject({ id: 'a', owned: true })
    },
  )

  it('a file behind a link is created in the directory of the target', async () => {
    const file = tempFile()
    const link = join(dirname(tempFile()), 'current')
    symlinkSync(dirname(file), link)
    const store = await openStore(join(link, basename(file)))
    const unit = await ownedRun(store, 'a')
    expect(await store.workers.beat(unit.worker)).toBe(true)
    expect(readdirSync(dirname(file)).toSorted()).toEqual(['pawl.db', 'pawl.db-shm', 'pawl.db-wal'])
  })
})

describe('a file that is taken away while it is open', () => {
  const ways = [
    ['the file is replaced', (file: string) => renameSync(writeOther(file), file)],
    ['the file is deleted', (file: string) => rmSync(file)],
    ['the -wal is deleted', (file: string) => rmSync(`${file}-wal`)],
  ] as const

  it.each(ways)(
    'is noticed by a client that has no beat, with a call of a second later: %s',
    async (_, takeAway) => {
      const file = tempFile()
      const store = await openStore(file)
      takeAway(file)
      let error: unknown
      while (error === undefined)
        await store.runs.create([run('a', null)]).then(
          () => new Promise((resolve) => setTimeout(resolve, 20)),
          (reason: unknown) => {
            error = reason
          },
        )
      if (!PawlError.is(error, 'store-unusable')) throw error
      expect(error.message).toContain('was replaced or deleted')
      await expect(store.runs.find('a')).rejects.toBe(error)
    },
  )

  it.each(ways)(
    'is noticed with the next beat, and nothing is acknowledged from then on: %s',
    async (_, takeAway) => {
      const file = tempFile()
      const store = await openStore(file)
      const unit = await ownedRun(store, 'a')
      takeAway(file)
      const error = await store.workers.beat(unit.worker).catch((reason: unknown) => reason)
      if (!PawlError.is(error, 'store-unusable')) throw error
      expect(error.message).toContain('was replaced or deleted')
      await expect(store.log.commit(unit.worker, [step(unit)])).rejects.toBe(error)
      await expect(store.runs.find('a')).rejects.toBe(error)
    },
  )

  function writeOther(file: string): string {
    writeFileSync(`${file}.other`, 'something else')
    return `${file}.other`
  }
})

describe('a reader that stays', () => {
  it('the -wal grows while a reader stays, and is shortened when the reader has left', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const unit = await ownedRun(store, 'a')
    const reader = connect(file)
    onTestFinished(() => void reader.close())
    reader.exec('begin; select count(*) from runs')
    for (let head = 1; head < 200; head++) {
      const [outcome] = await store.log.commit(unit.worker, [step({ ...unit, head }, new Uint8Array(2000))])
      expect(outcome).toMatchObject({ outcome: 'ok' })
    }
    const writer = connect(file)
    onTestFinished(() => void writer.close())
    expect(shortenWal(writer, file, 100_000)).toBe(true)
    reader.exec('commit')
    const { size } = statSync(`${file}-wal`)
    expect(shortenWal(writer, file)).toBe(false)
    expect(statSync(`${file}-wal`).size, 'not long yet').toBe(size)
    expect(shortenWal(writer, file, 100_000)).toBe(false)
    expect(statSync(`${file}-wal`).size).toBeLessThan(size)
    expect(await store.log.load(unit.run, 0, 1000)).toHaveLength(200)
  })
})

describe('processes and threads', () => {
  it('a connection is not used after a fork', async () => {
    const store = await openStore(tempFile())
    const pid = vi.spyOn(process, 'pid', 'get').mockReturnValue(process.pid + 1)
    onTestFinished(() => pid.mockRestore())
    const error = await store.runs.find('a').catch((reason: unknown) => reason)
    if (!PawlError.is(error, 'store-unusable')) throw error
    expect(error.details.remedy).toContain('after the fork')
  })

  it('a store cannot be passed to a thread', () => {
    expect(connectTo(structuredClone(sqliteStore(tempFile())))).toBeUndefined()
  })

  it('each thread that calls sqlite() has its own connections', async () => {
    const file = tempFile()
    const store = await openStore(file)
    await ownedRun(store, 'a')
    const thread = new Worker(new URL('../programs/sending-thread.mjs', import.meta.url), {
      workerData: { file, driver },
      execArgv: ['--conditions=@pawl/source'],
    })
    const [outcome] = await new Promise<unknown[]>((resolve, reject) => {
      thread.once('message', (message) => resolve([message]))
      thread.once('error', reject)
    })
    expect(outcome).toMatchObject([{ outcome: 'stored' }])
    expect(await store.runs.find('a')).toMatchObject({ mail: 1 })
    expect(existsSync(file)).toBe(true)
  })
})
