import { existsSync, linkSync, rmSync, symlinkSync, truncateSync } from 'node:fs'
import { connectTo, PawlError, type StorePort } from '@pawl/core/storage'
import { sqlite } from '@pawl/storage-sqlite'
import { findNodeSqlite, NodeDatabase } from '@pawl/storage-sqlite/internal'
import BetterSqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { driver } from '../../../../test/support/sqlite.ts'
import { findBetterSqlite } from '../../src/connection/better-sqlite.ts'
import type { Library } from '../../src/connection/open-files.ts'
import { openStore, tempFile } from '../support/stores.ts'

// The registers of two copies of the package.
const [{ registerConnection }, copy] = await Promise.all([
  import('../../src/connection/open-files.ts'),
  // @ts-expect-error: the query makes it a second module
  import('../../src/connection/open-files.ts?copy') as Promise<
    typeof import('../../src/connection/open-files.ts')
  >,
])

const own: Library = { id: driver === 'node' ? 'node:sqlite' : findBetterSqlite(), driver }
const other: Library =
  driver === 'node'
    ? { id: '/app/better-sqlite3', driver: 'better-sqlite3' }
    : { id: 'node:sqlite', driver: 'node' }
const node = findNodeSqlite()

async function createdFile(): Promise<string> {
  const file = tempFile()
  await (await openStore(file)).close()
  return file
}

const refusal = (file: string, open: Library, wanted: Library) =>
  expect.objectContaining({
    code: 'store-unusable',
    message: expect.stringContaining(
      `${file} is already open in this process with the driver '${open.driver}', so it cannot be opened with '${wanted.driver}'`,
    ),
  })

test('a file that is open with the other driver is refused until that is closed', async () => {
  const file = await createdFile()
  const unregister = copy.registerConnection(file, other)
  await expect(openStore(file)).rejects.toEqual(refusal(file, other, own))
  unregister()
  const store = await openStore(file)
  expect(() => copy.registerConnection(file, other)).toThrow(refusal(file, own, other))
  await store.close()
  copy.registerConnection(file, other)()
})

test('a file stays registered until the last of its connections is closed', async () => {
  const file = await createdFile()
  const [first, second] = await Promise.all([openStore(file), openStore(file)])
  await first.close()
  await first.close()
  expect(() => registerConnection(file, other)).toThrow(refusal(file, own, other))
  await second.close()
  registerConnection(file, other)()
})

test('a file is recognized by any of its names', async () => {
  const file = await createdFile()
  const [link, hardLink] = [`${file}.link`, `${file}.hard`]
  symlinkSync(file, link)
  linkSync(file, hardLink)
  const unregister = registerConnection(file, other)
  await expect(openStore(link)).rejects.toEqual(refusal(file, other, own))
  await expect(openStore(hardLink)).rejects.toEqual(refusal(hardLink, other, own))
  unregister()
})

test('a file that replaces an open one is a different file', async () => {
  const file = await createdFile()
  const replacement = await createdFile()
  const unregister = registerConnection(file, other)
  for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true })
  linkSync(replacement, file)
  await (await openStore(file)).close()
  unregister()
})

test('a start that fails leaves no registration behind', async () => {
  const file = await createdFile()
  truncateSync(file, 5000)
  await expect(openStore(file)).rejects.toMatchObject({ code: 'store-unusable' })
  registerConnection(file, other)()
})

test.runIf(driver === 'better-sqlite3')(
  'another copy of better-sqlite3 is refused, with the command that finds it',
  async () => {
    const file = await createdFile()
    const unregister = registerConnection(file, {
      id: '/app/node_modules/x/better-sqlite3',
      driver: 'better-sqlite3',
    })
    const error = await openStore(file).catch((reason: unknown) => reason)
    unregister()
    if (!PawlError.is(error, 'store-unusable')) throw error
    expect(error.message).toContain(
      'with another copy of better-sqlite3: /app/node_modules/x/better-sqlite3, not /',
    )
    expect(error.details.remedy).toContain('npm ls better-sqlite3')
  },
)

test.runIf(node)('two drivers that open one file at once: one is refused, and the other works', async () => {
  for (const isNew of [true, false]) {
    const file = isNew ? tempFile() : await createdFile()
    const stores = (['node', 'better-sqlite3'] as const).map(
      (one) => connectTo(sqlite(file, { driver: one })) as StorePort,
    )
    onTestFinished(async () => {
      for (const store of stores) await store.close()
    })
    const opened = await Promise.allSettled(stores.map((store) => store.open()))
    expect(opened.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const reason = opened.find(({ status }) => status === 'rejected') as PromiseRejectedResult
    expect(reason.reason).toMatchObject({ code: 'store-unusable' })
    expect(existsSync(file)).toBe(true)
    const works = stores[opened.findIndex(({ status }) => status === 'fulfilled')]
    expect(await works?.runs.find('a')).toBeNull()
  }
})

// Why the stores refuse it.
test.runIf(node)(
  'without the check, two copies of SQLite in one process write at the same time',
  async () => {
    const file = await createdFile()
    const first = new BetterSqlite(file, { timeout: 0 })
    const connect = (): NodeDatabase =>
      new NodeDatabase(new (node as NonNullable<typeof node>).DatabaseSync(file))
    const second = connect()
    onTestFinished(() => {
      first.close()
      second.close()
    })
    first.exec('begin immediate')
    expect(() => second.exec('begin immediate')).not.toThrow()
    const sameCopy = connect()
    onTestFinished(() => sameCopy.close())
    expect(() => sameCopy.exec('begin immediate')).toThrow('locked')
  },
)
