import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { backUp, connect } from '../../../test/support/sqlite.ts'
import { dumpFile } from './support/dump.ts'
import { ownedRun, refund, step } from './support/runs.ts'
import { openStore, tempFile } from './support/stores.ts'

function readStoreId(file: string): unknown {
  const database = connect(file)
  try {
    return database.prepare("select value from store_info where name = 'id'").pluck().get()
  } finally {
    database.close()
  }
}

describe('a backup', () => {
  it('a backup by VACUUM INTO during writes has everything acknowledged before', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const standing = await ownedRun(store, 'a')
    for (let head = 1; head <= 20; head++)
      await store.log.commit(standing.worker, [step({ ...standing, head })])
    const database = connect(file)
    const backup = join(dirname(file), 'backup.db')
    database.prepare('vacuum into ?').run(backup)
    database.close()
    await store.log.commit(standing.worker, [step({ ...standing, head: 21 })])
    expect(dumpFile(backup).events).toHaveLength(21)
    const restored = await openStore(backup)
    expect(await restored.log.load(standing.run, 0, 100)).toHaveLength(21)
  })

  it("a backup by the driver's online backup has everything acknowledged", async () => {
    const file = tempFile()
    const store = await openStore(file)
    const standing = await ownedRun(store, 'a')
    await store.log.commit(standing.worker, [step(standing)])
    const backup = join(dirname(file), 'backup.db')
    await backUp(file, backup)
    expect(await (await openStore(backup)).log.load(standing.run, 0, 100)).toHaveLength(2)
  })
})

describe('a copy', () => {
  it('a copy becomes a separate store, in which no worker of the original owns runs', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const standing = await ownedRun(store, 'a')
    const copy = join(dirname(file), 'copy.db')
    const database = connect(file)
    database.prepare('vacuum into ?').run(copy)
    database.close()

    const restored = await openStore(copy)
    expect(readStoreId(copy)).not.toBe(readStoreId(file))
    // The ids of asks in mails stay valid after a backup is restored.
    expect(await restored.askIdKey()).toBe(await store.askIdKey())
    expect(await restored.log.commit(standing.worker, [step(standing)])).toEqual([{ outcome: 'fenced' }])
    expect(await restored.workers.beat(standing.worker)).toBe(false)
    const claimant = {
      worker: await restored.workers.register({ name: 'w', leaseMs: 1000 }),
      procedures: refund,
    }
    expect(claimant.worker).not.toBe(standing.worker)
    expect((await restored.claims.claim(claimant, 10)).runs).toMatchObject([{ id: 'a', epoch: 3 }])
    // The original continues.
    expect(await store.log.commit(standing.worker, [step(standing)])).toMatchObject([{ outcome: 'ok' }])
  })

  it('a copy is adopted once, and stays the same store when opened again', async () => {
    const file = tempFile()
    await (await openStore(file)).close()
    const copy = join(dirname(file), 'copy.db')
    copyFileSync(file, copy)
    const store = await openStore(copy)
    const id = readStoreId(copy)
    const standing = await ownedRun(store, 'a')
    await openStore(copy)
    expect(readStoreId(copy)).toBe(id)
    expect(await store.log.commit(standing.worker, [step(standing)])).toMatchObject([{ outcome: 'ok' }])
  })

  it('a moved file is not a copy', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const standing = await ownedRun(store, 'a')
    await store.close()
    const id = readStoreId(file)
    renameSync(file, `${file}.moved`)
    const moved = await openStore(`${file}.moved`)
    expect(readStoreId(`${file}.moved`)).toBe(id)
    expect(await moved.log.commit(standing.worker, [step(standing)])).toMatchObject([{ outcome: 'ok' }])
  })
})

describe('the files beside the file', () => {
  it('a missing -shm is created again, and nothing is lost', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const standing = await ownedRun(store, 'a')
    for (let head = 1; head <= 5; head++)
      await store.log.commit(standing.worker, [step({ ...standing, head })])
    // What a crash leaves, without the -shm.
    const left = tempFile()
    for (const end of ['', '-wal']) copyFileSync(file + end, left + end)
    rmSync(`${left}-shm`, { force: true })
    expect(await (await openStore(left)).log.load(standing.run, 0, 100)).toHaveLength(6)
  })

  it('a truncated -wal shortens a log and leaves no gap', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const standing = await ownedRun(store, 'a')
    for (let head = 1; head <= 20; head++)
      await store.log.commit(standing.worker, [step({ ...standing, head })])
    const { readFileSync, writeFileSync } = await import('node:fs')
    const wal = readFileSync(`${file}-wal`)
    for (const share of [0.2, 0.5, 0.8, 0.99]) {
      const left = tempFile()
      copyFileSync(file, left)
      writeFileSync(`${left}-wal`, wal.subarray(0, Math.floor(wal.length * share)))
      const { runs, events } = dumpFile(await opened(left))
      expect(events.map(({ seq }) => seq)).toEqual(
        Array.from({ length: runs[0]?.head ?? 0 }, (_, seq) => seq),
      )
    }
  })

  async function opened(file: string): Promise<string> {
    await (await openStore(file)).close()
    return file
  }
})
