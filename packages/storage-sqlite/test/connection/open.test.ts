import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { connectTo, PawlError } from '@pawl/core/storage'
import { sqlite } from '@pawl/storage-sqlite'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { connect, driver, sqliteStore } from '../../../../test/support/sqlite.ts'
import { openDatabase } from '../../src/open.ts'
import { openStore, tempFile } from '../support/stores.ts'

/** Opens it, and returns the error that comes of it. */
async function failToOpen(file: string): Promise<PawlError<'store-unusable'>> {
  const store = connectTo(sqliteStore(file))
  const error = await store?.open().then(
    () => new Error(`${file} was opened`),
    (reason: unknown) => reason,
  )
  if (!PawlError.is(error, 'store-unusable')) throw error
  await expect(store?.runs.find('a')).rejects.toThrow('not open')
  return error
}

describe('a start that fails says what to do', () => {
  it('a start without the directory fails with the remedy', async () => {
    const file = join(dirname(tempFile()), 'missing', 'pawl.db')
    const error = await failToOpen(file)
    expect(error.message).toContain(`The directory ${dirname(file)} does not exist`)
    expect(error.details.remedy).toContain(`Create ${dirname(file)}`)
    expect(existsSync(dirname(file))).toBe(false)
  })

  it('a start on a directory fails with the remedy', async () => {
    const file = tempFile()
    mkdirSync(file)
    expect((await failToOpen(file)).message).toContain('is not a file')
  })

  it.each(['', ':memory:'])('the name %j is no file', async (file) => {
    const error = await failToOpen(file)
    expect(error.details.remedy).toContain('memory()')
    expect(existsSync(':memory:')).toBe(false)
  })

  it('a new file, and what SQLite keeps beside it, can be read by its owner only', async () => {
    const file = tempFile()
    const before = process.umask(0)
    onTestFinished(() => void process.umask(before))
    await openStore(file)
    const modes = readdirSync(dirname(file)).map((name) => statSync(join(dirname(file), name)).mode & 0o777)
    expect(modes.length).toBeGreaterThan(1)
    expect(new Set(modes)).toEqual(new Set([0o600]))
  })

  it.each([
    [pathToFileURL('/tmp/pawl.db').href, 'fileURLToPath()'],
    ['postgres://ana:secret@db/x', 'It is an address of PostgreSQL'],
    ['mysql://ana:secret@db/x', 'not a URL'],
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

  it('a name with a backslash among slashes is a file name', () => {
    expect(() => sqlite('/tmp/a\\b/pawl.db')).not.toThrow()
  })

  it('a start with a name too long for the system fails with the remedy', async () => {
    const file = join(dirname(tempFile()), `${'x'.repeat(300)}.db`)
    expect((await failToOpen(file)).message).toContain('ENAMETOOLONG')
  })

  it('a start in a read-only directory fails with the remedy', async () => {
    // Not even by root.
    expect((await failToOpen('/proc/pawl.db')).details.remedy).toMatch(/write access/)
    const file = tempFile()
    chmodSync(dirname(file), 0o500)
    onTestFinished(() => chmodSync(dirname(file), 0o700))
    if (process.getuid?.() !== 0) expect((await failToOpen(file)).details.remedy).toMatch(/write access/)
  })

  it('a start on an empty file fails with the remedy', async () => {
    const file = tempFile()
    writeFileSync(file, '')
    const error = await failToOpen(file)
    expect(error.message).toContain(`${file} is empty`)
    expect(error.details.remedy).toContain('restore a backup')
    expect(readFileSync(file)).toHaveLength(0)
  })

  it('a start on a file that is no database fails and leaves it unchanged', async () => {
    const file = tempFile()
    const content = Buffer.from('name,amount\n'.repeat(500))
    writeFileSync(file, content)
    const error = await failToOpen(file)
    expect(error.message).toContain(`${file} is not a SQLite database`)
    expect(readFileSync(file)).toEqual(content)
  })

  it('a start on a truncated file fails with the remedy', async () => {
    const file = tempFile()
    await (await openStore(file)).close()
    truncateSync(file, 5000)
    const error = await failToOpen(file)
    expect(error.message).toContain(`${file} is damaged`)
    expect(error.details.remedy).toContain('restore a backup')
  })

  it('a start on a database of another program fails with the remedy', async () => {
    const file = tempFile()
    const database = connect(file)
    database.exec('create table customers (name text)')
    database.close()
    const error = await failToOpen(file)
    expect(error.message).toContain('"customers"')
    expect(error.details.remedy).toBe('Pass `sqlite()` the path of a separate file.')
  })

  it('a start while another process holds the lock fails with the remedy', async () => {
    const file = tempFile()
    await (await openStore(file)).close()
    const database = connect(file)
    onTestFinished(() => void database.close())
    database.pragma('journal_mode = delete')
    database.exec('begin exclusive')
    const error = await openDatabase(file, driver, 50).catch((reason: unknown) => reason)
    if (!PawlError.is(error, 'store-unusable')) throw error
    expect(error.message).toContain('has held the lock')
    expect(error.details.remedy).toContain('fuser')
  })
})

it('a current store is opened while another process writes', async () => {
  const file = tempFile()
  await (await openStore(file)).close()
  const database = connect(file)
  onTestFinished(() => void database.close())
  database.exec('begin immediate')
  expect(await (await openStore(file)).runs.find('a')).toBeNull()
})

describe('a new file', () => {
  it('a new file appears in one step, with nothing left beside it', async () => {
    const file = tempFile()
    const store = await openStore(file)
    expect(readdirSync(dirname(file)).filter((name) => name.endsWith('.new'))).toEqual([])
    await store.close()
    expect(readdirSync(dirname(file))).toEqual(['pawl.db'])
  })

  it("a new file is created where file handles cannot sync, as with Yarn's Plug'n'Play", async () => {
    const file = tempFile()
    const handle = await open(dirname(file), 'r')
    const sync = vi
      .spyOn(Object.getPrototypeOf(handle), 'sync')
      .mockRejectedValue(new Error('not implemented'))
    onTestFinished(() => sync.mockRestore())
    await handle.close()
    expect(await (await openStore(file)).runs.find('a')).toBeNull()
  })

  it('processes that create a file at once get the same file', async () => {
    const file = tempFile()
    const stores = await Promise.all(Array.from({ length: 8 }, () => openStore(file)))
    const workers = await Promise.all(
      stores.map((store) => store.workers.register({ name: 'w', leaseMs: 1000 })),
    )
    expect(new Set(workers).size).toBe(8)
    expect(readdirSync(dirname(file)).sort()).toEqual(['pawl.db', 'pawl.db-shm', 'pawl.db-wal'])
  })

  it('a file name may contain non-ASCII characters, spaces and quotes', async () => {
    const file = join(dirname(tempFile()), 'bücher & "käse" \'100%\'.db')
    await (await openStore(file)).workers.register({ name: 'w', leaseMs: 1000 })
    expect(existsSync(file)).toBe(true)
  })
})
