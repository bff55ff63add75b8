import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { connectTo, PawlError } from '@pawl/core/storage'
import { sqlite } from '@pawl/storage-sqlite'
import SqliteDatabase from 'better-sqlite3'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openDatabase } from '../../src/open.ts'
import { openStore, tempFile } from '../support/stores.ts'

/** Opens it, and returns the error that comes of it. */
async function failToOpen(file: string): Promise<PawlError<'store-unusable'>> {
  const store = connectTo(sqlite(file))
  const error = await store?.open().then(
    () => new Error(`${file} was opened`),
    (reason: unknown) => reason,
  )
  if (!PawlError.is(error, 'store-unusable')) throw error
  await expect(store?.find('a')).rejects.toThrow('not open')
  return error
}

describe('a start that fails says what to do', () => {
  it('the directory is not there', async () => {
    const file = join(dirname(tempFile()), 'missing', 'pawl.db')
    const error = await failToOpen(file)
    expect(error.message).toContain(`The directory ${dirname(file)} does not exist`)
    expect(error.details.remedy).toContain(`Create ${dirname(file)}`)
    expect(existsSync(dirname(file))).toBe(false)
  })

  it('the name is that of a directory', async () => {
    const file = tempFile()
    mkdirSync(file)
    expect((await failToOpen(file)).message).toContain('is not a file')
  })

  it.each(['', ':memory:'])('the name %j is no file', async (file) => {
    const error = await failToOpen(file)
    expect(error.details.remedy).toContain('memory()')
    expect(existsSync(':memory:')).toBe(false)
  })

  it.each([
    [pathToFileURL('/tmp/pawl.db').href, 'fileURLToPath()'],
    ['~/pawl.db', 'homedir()'],
    ['/tmp/pawl.db\n', 'white space'],
    ['/tmp/pawl.db ', 'white space'],
    ['C:\\data\\pawl.db', 'It is a Windows path, but the platform is linux. Use a path such as'],
    ['d:/data/pawl.db', 'Windows path'],
    ['data\\pawl.db', 'Windows path'],
    ['\\\\server\\share\\pawl.db', 'Windows path'],
    [new URL('file:///tmp/pawl.db') as unknown as string, 'the path of a file'],
  ])('the name %j is no path', (file, remedy) => {
    expect(() => sqlite(file)).toThrow(
      expect.objectContaining({ code: 'option-invalid', message: expect.stringContaining(remedy) }),
    )
  })

  it('a name with a backslash in it, among slashes, is one', () => {
    expect(() => sqlite('/tmp/a\\b/pawl.db')).not.toThrow()
  })

  it('the name is longer than the system takes', async () => {
    const file = join(dirname(tempFile()), `${'x'.repeat(300)}.db`)
    expect((await failToOpen(file)).message).toContain('ENAMETOOLONG')
  })

  it('the directory cannot be written to', async () => {
    // Not even by root.
    expect((await failToOpen('/proc/pawl.db')).details.remedy).toMatch(/write access/)
    const file = tempFile()
    chmodSync(dirname(file), 0o500)
    onTestFinished(() => chmodSync(dirname(file), 0o700))
    if (process.getuid?.() !== 0) expect((await failToOpen(file)).details.remedy).toMatch(/write access/)
  })

  it('the file is empty: it is not taken for a new one', async () => {
    const file = tempFile()
    writeFileSync(file, '')
    const error = await failToOpen(file)
    expect(error.message).toContain(`${file} is empty`)
    expect(error.details.remedy).toContain('restore a backup')
    expect(readFileSync(file)).toHaveLength(0)
  })

  it('the file is not a database: it is left as it is', async () => {
    const file = tempFile()
    const content = Buffer.from('name,amount\n'.repeat(500))
    writeFileSync(file, content)
    const error = await failToOpen(file)
    expect(error.message).toContain(`${file} is not a SQLite database`)
    expect(readFileSync(file)).toEqual(content)
  })

  it('the file is cut off', async () => {
    const file = tempFile()
    await (await openStore(file)).close()
    truncateSync(file, 5000)
    const error = await failToOpen(file)
    expect(error.message).toContain(`${file} is damaged`)
    expect(error.details.remedy).toContain('restore a backup')
  })

  it('the database belongs to another program', async () => {
    const file = tempFile()
    const database = new SqliteDatabase(file)
    database.exec('create table customers (name text)')
    database.close()
    const error = await failToOpen(file)
    expect(error.message).toContain('"customers"')
    expect(error.details.remedy).toBe('Pass `sqlite()` the path of a separate file.')
  })

  it('another process does not release the lock', async () => {
    const file = tempFile()
    await (await openStore(file)).close()
    const database = new SqliteDatabase(file)
    onTestFinished(() => void database.close())
    database.pragma('journal_mode = delete')
    database.exec('begin exclusive')
    const error = await openDatabase(file, 50).catch((reason: unknown) => reason)
    if (!PawlError.is(error, 'store-unusable')) throw error
    expect(error.message).toContain('has held the lock')
    expect(error.details.remedy).toContain('fuser')
  })
})

it('a store that is up to date is opened while another process writes', async () => {
  const file = tempFile()
  await (await openStore(file)).close()
  const database = new SqliteDatabase(file)
  onTestFinished(() => void database.close())
  database.exec('begin immediate')
  expect(await (await openStore(file)).find('a')).toBeNull()
})

describe('a new file', () => {
  it('is made in one move, with nothing left beside it', async () => {
    const file = tempFile()
    const store = await openStore(file)
    expect(readdirSync(dirname(file)).filter((name) => name.endsWith('.new'))).toEqual([])
    await store.close()
    expect(readdirSync(dirname(file))).toEqual(['pawl.db'])
  })

  it('is made where handles of files cannot sync, as with Plug and Play of Yarn', async () => {
    const file = tempFile()
    const handle = await open(dirname(file), 'r')
    const sync = vi
      .spyOn(Object.getPrototypeOf(handle), 'sync')
      .mockRejectedValue(new Error('not implemented'))
    onTestFinished(() => sync.mockRestore())
    await handle.close()
    expect(await (await openStore(file)).find('a')).toBeNull()
  })

  it('is one and the same for all who make it at once', async () => {
    const file = tempFile()
    const stores = await Promise.all(Array.from({ length: 8 }, () => openStore(file)))
    const workers = await Promise.all(stores.map((store) => store.register({ name: 'w', leaseMs: 1000 })))
    expect(new Set(workers).size).toBe(8)
    expect(readdirSync(dirname(file)).sort()).toEqual(['pawl.db', 'pawl.db-shm', 'pawl.db-wal'])
  })

  it('can have a name that is not ASCII, with spaces and quotes', async () => {
    const file = join(dirname(tempFile()), 'bücher & "käse" \'100%\'.db')
    await (await openStore(file)).register({ name: 'w', leaseMs: 1000 })
    expect(existsSync(file)).toBe(true)
  })
})
