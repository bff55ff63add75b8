import fs, {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Database } from '@pawl/storage-sqlite/internal'
import { expect, it, vi } from 'vitest'
import { connect, driver, rawConnections } from '../../../test/support/sqlite.ts'
import { type BackupOptions, backUp } from '../src/backup.ts'
import { companions } from '../src/connection/aside.ts'
import { dumpFile } from './support/dump.ts'
import { patched } from './support/patched.ts'
import { startProgram } from './support/programs.ts'
import { ownedRun, step } from './support/runs.ts'
import { openStore, tempFile } from './support/stores.ts'

const copyOf = (file: string, target: string, options: BackupOptions = {}) =>
  backUp(file, target, { driver, ...options })

it('copies a store that is in use, with everything acknowledged before, and nothing later', async () => {
  const file = tempFile()
  const store = await openStore(file)
  const standing = await ownedRun(store, 'a')
  for (let head = 1; head <= 20; head++)
    await store.log.commit(standing.worker, [step({ ...standing, head })])
  const target = join(dirname(file), 'backup.db')
  const made = await copyOf(file, target)
  await store.log.commit(standing.worker, [step({ ...standing, head: 21 })])
  expect(made).toEqual({ runs: 1, bytes: statSync(target).size })
  expect(dumpFile(target).events).toHaveLength(21)
  const restored = await openStore(target)
  expect(await restored.log.load(standing.run, 0, 100)).toHaveLength(21)
})

it('replaces a file only if it is told to', async () => {
  const file = tempFile()
  await openStore(file)
  const target = join(dirname(file), 'backup.db')
  writeFileSync(target, 'mine')
  await expect(copyOf(file, target)).rejects.toMatchObject({ code: 'store-unusable' })
  expect(readFileSync(target, 'utf8')).toBe('mine')
  expect(await copyOf(file, target, { replaces: true })).toMatchObject({ runs: 0 })
})

it.each(['its own name', 'a symbolic link', 'a hard link'])(
  'never replaces the file of the store, given by %s',
  async (by) => {
    const file = tempFile()
    const store = await openStore(file)
    const target = by === 'its own name' ? file : join(dirname(file), 'link.db')
    if (by === 'a symbolic link') symlinkSync(file, target)
    if (by === 'a hard link') linkSync(file, target)
    const before = statSync(target).ino
    for (const replaces of [true, false])
      await expect(copyOf(file, target, { replaces })).rejects.toThrow(/is the file of the store itself/)
    expect(statSync(target).ino).toBe(before)
    await ownedRun(store, 'a')
    expect(await store.runs.find('a')).not.toBeNull()
  },
)

it('gives the copy the rights of the store, from the start', async () => {
  const file = tempFile()
  await openStore(file)
  chmodSync(file, 0o600)
  const folder = join(dirname(file), 'backups')
  mkdirSync(folder)
  const target = join(folder, 'backup.db')
  const modes: number[] = []
  const { close } = rawConnections
  using _ = vi.spyOn(rawConnections, 'close').mockImplementation(function (this: Database) {
    for (const name of readdirSync(folder)) modes.push(statSync(join(folder, name)).mode & 0o777)
    return close.call(this)
  })
  await copyOf(file, target)
  // After it was written, and after it was verified.
  expect(modes).toEqual([0o600, 0o600])
  expect(statSync(target).mode & 0o777).toBe(0o600)
})

it('explains a target that cannot be written with its name, not that of the store', async () => {
  const file = tempFile()
  await openStore(file)
  const folder = join(dirname(file), 'backups')
  mkdirSync(folder)
  const text = join(folder, 'text')
  writeFileSync(text, 'mine')
  const explained = async (target: string, text: string): Promise<void> => {
    for (const replaces of [true, false]) {
      const failed = expect(copyOf(file, target, { replaces })).rejects
      await failed.toMatchObject({ code: 'store-unusable', message: expect.stringContaining(text) })
      await failed.not.toThrow(file)
    }
  }
  await explained(join(folder, 'missing', 'x.db'), `The directory ${join(folder, 'missing')} does not exist`)
  await explained(join(text, 'x.db'), `The directory ${text} does not exist`)
  await explained(folder, `${folder} is not a file.`)
  // Its temporary name is too long.
  const long = join(folder, 'x'.repeat(240))
  await explained(long, `Creating ${long} failed: ENAMETOOLONG`)
  expect(readdirSync(folder)).toEqual(['text'])
})

it('explains a disk without space for the copy, and leaves nothing behind', async () => {
  const file = tempFile()
  const store = await openStore(file)
  const standing = await ownedRun(store, 'a')
  for (let head = 1; head <= 200; head++)
    await store.log.commit(standing.worker, [step({ ...standing, head })])
  await store.close()
  const folder = join(dirname(file), 'backups')
  mkdirSync(folder)
  const target = join(folder, 'backup.db')
  const program = await startProgram('backing-up', [file, target], { fileLimitBlocks: 80 })
  expect(await program.line()).toBe('store-unusable')
  expect(await program.line()).toMatch(`The disk of ${target}`)
  expect(await program.end()).toBe(0)
  expect(readdirSync(folder)).toEqual([])
})

it('copies to a file system without links, where it overwrites nothing either', async () => {
  const file = tempFile()
  await openStore(file)
  const target = join(dirname(file), 'backup.db')
  using _ = patched('link', async () => {
    throw Object.assign(new Error('no links'), { code: 'EPERM' })
  })
  expect(await copyOf(file, target)).toMatchObject({ runs: 0 })
  expect(dumpFile(target).runs).toEqual([])
  await expect(copyOf(file, target)).rejects.toThrow(`${target} exists.`)
})

it.each([false, true])('makes its name durable, with replaces: %s', async (replaces) => {
  const file = tempFile()
  await openStore(file)
  const folder = join(dirname(file), 'backups')
  mkdirSync(folder)
  const target = join(folder, 'backup.db')
  const { open } = fs.promises
  const opened: [path: string, isNamed: boolean][] = []
  using _ = patched('open', (path, ...args) => {
    opened.push([String(path), existsSync(target)])
    return open(path, ...args)
  })
  await copyOf(file, target, { replaces })
  expect(opened.filter(([path]) => path.startsWith(folder))).toEqual([
    [expect.stringMatching(/backup\.db\..*\.new$/), false],
    [folder, true],
  ])
})

it('leaves nothing behind if it is aborted, at whatever point', async () => {
  const file = tempFile()
  await openStore(file)
  const folder = join(dirname(file), 'backups')
  mkdirSync(folder)
  const target = join(folder, 'backup.db')
  let points = 0
  for (let isDone = false; !isDone; points++) {
    const { signal, checks } = abortingAt(points)
    isDone = await copyOf(file, target, { signal }).then(
      () => true,
      (error: unknown) => {
        expect(error).toBe(signal.reason)
        return false
      },
    )
    expect(readdirSync(folder)).toEqual(isDone ? ['backup.db'] : [])
    expect(checks()).toBeGreaterThan(0)
  }
  expect(points).toBeGreaterThan(2)
})

/** A signal that aborts when it is checked for the given time, from 0. */
function abortingAt(point: number): { readonly signal: AbortSignal; readonly checks: () => number } {
  const controller = new AbortController()
  const { signal } = controller
  const check = signal.throwIfAborted.bind(signal)
  let checks = 0
  signal.throwIfAborted = () => {
    if (checks++ === point) controller.abort()
    check()
  }
  return { signal, checks: () => checks }
}

it.each(companions)(
  'refuses a target with a %s of an earlier file, also to replace it',
  async (companion) => {
    const file = tempFile()
    await openStore(file)
    const target = join(dirname(file), 'backup.db')
    writeFileSync(`${target}${companion}`, 'earlier')
    for (const replaces of [true, false])
      await expect(copyOf(file, target, { replaces })).rejects.toThrow(
        `delete ${target}${companion} if no process`,
      )
    writeFileSync(target, 'mine')
    await expect(copyOf(file, target, { replaces: true })).rejects.toThrow(`${target}${companion} exists`)
    expect(readFileSync(target, 'utf8')).toBe('mine')
    expect(readFileSync(`${target}${companion}`, 'utf8')).toBe('earlier')
  },
)

it('never replaces a copy that is in use, also by a link to it', async () => {
  const file = tempFile()
  const store = await openStore(file)
  const target = join(dirname(file), 'backup.db')
  const link = join(dirname(file), 'link.db')
  symlinkSync(target, link)
  await copyOf(file, target)
  const copied = await openStore(target)
  await ownedRun(store, 'a')
  for (const name of [target, link])
    await expect(copyOf(file, name, { replaces: true })).rejects.toThrow('backup.db-wal exists')
  await ownedRun(copied, 'b')
  await copied.close()
  expect(await copyOf(file, link, { replaces: true })).toMatchObject({ runs: 1 })
  const restored = await openStore(target)
  expect(await restored.runs.find('a')).not.toBeNull()
  expect(await restored.runs.find('b')).toBeNull()
})

it('refuses what is not the file of a store, and leaves nothing behind', async () => {
  const file = tempFile()
  const folder = join(dirname(file), 'backups')
  mkdirSync(folder)
  const target = join(folder, 'backup.db')
  await expect(copyOf(file, target)).rejects.toThrow(/There is no file/)
  const other = connect(file)
  other.exec('create table things (id integer)')
  other.close()
  await expect(copyOf(file, target)).rejects.toThrow(/is not the file of a store/)
  const text = `${file}.txt`
  writeFileSync(text, 'a text of some length, which is no database at all'.repeat(100))
  await expect(copyOf(text, target)).rejects.toMatchObject({ code: 'store-unusable' })
  expect(readdirSync(folder)).toEqual([])
})

it('keeps no copy of a damaged file', async () => {
  const file = tempFile()
  const store = await openStore(file)
  const standing = await ownedRun(store, 'a')
  for (let head = 1; head <= 20; head++)
    await store.log.commit(standing.worker, [step({ ...standing, head })])
  await store.close()
  const database = connect(file)
  const page = database.pragma('page_size', { simple: true }) as number
  const root = database
    .prepare("select rootpage from sqlite_schema where name = 'events'")
    .pluck()
    .get() as number
  database.close()
  const bytes = readFileSync(file)
  bytes.fill(0xff, (root - 1) * page, root * page)
  writeFileSync(file, bytes)
  const folder = join(dirname(file), 'backups')
  mkdirSync(folder)
  await expect(copyOf(file, join(folder, 'backup.db'))).rejects.toMatchObject({ code: 'store-unusable' })
  expect(readdirSync(folder)).toEqual([])
})
