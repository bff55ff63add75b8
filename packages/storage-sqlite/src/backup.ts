import { stat, writeFile } from 'node:fs/promises'
import { companions, removeAside, removeLeftovers } from './connection/aside.ts'
import { hasCode, writeWhole } from './connection/create-file.ts'
import type { Database } from './connection/database.ts'
import { connectAlone, connectShared, type SqliteDriver } from './connection/driver.ts'
import { isSameFile } from './connection/file-identity.ts'
import { realFile } from './connection/real-file.ts'
import { pause } from './connection/retry.ts'
import { explainCreation, explainFault, isBusy, isDamaged } from './faults.ts'
import { checkDirectory } from './open.ts'
import { hasTable, readVersion } from './schema/version.ts'
import { unusable } from './unusable.ts'

export interface BackupOptions {
  /** Whether an existing file is replaced. Default: false. */
  readonly replaces?: boolean
  /** Default: 'better-sqlite3'. */
  readonly driver?: SqliteDriver
  /** Ends the backup without a copy. */
  readonly signal?: AbortSignal
}

export interface Backup {
  /** Number of runs in the copy. */
  readonly runs: number
  /** Size of the copy. */
  readonly bytes: number
}

/**
 * Copies the file of a store, also while processes use it. The copy is of one instant, is verified, and appears under its name when it
 * is whole.
 * @throws PawlError 'store-unusable', and the reason of the signal if it aborts: between two statements of SQLite
 */
export async function backUp(file: string, name: string, options: BackupOptions = {}): Promise<Backup> {
  const target = realFile(name)
  if (!(await exists(file))) throw unusable(`There is no file ${file}.`, 'Name the file of a store.')
  await checkDirectory(target)
  refuseItself(file, target)
  await refuseFolder(target)
  await refuseCompanions(target)
  await removeLeftovers(target)
  try {
    return await writeWhole(target, (aside) => makeCopy(file, aside, target, options), options)
  } catch (error) {
    options.signal?.throwIfAborted()
    throw hasCode(error, 'EEXIST') ? taken(target) : explainCreation(error, target)
  }
}

async function makeCopy(
  file: string,
  aside: string,
  target: string,
  { driver = 'better-sqlite3', signal }: BackupOptions,
): Promise<Backup> {
  await copy(file, aside, driver, signal)
  const runs = await verify(aside, driver)
  const { size } = await stat(aside)
  await refuseCompanions(target)
  signal?.throwIfAborted()
  return { runs, bytes: size }
}

/** The copy would take the place of the file that processes write to, and they would lose what they write. */
function refuseItself(file: string, target: string): void {
  if (!isSameFile(file, target)) return
  throw unusable(`${target} is the file of the store itself.`, 'Choose another file for the copy.')
}

async function refuseFolder(target: string): Promise<void> {
  const found = await stat(target).catch(() => undefined)
  if (found === undefined || found.isFile()) return
  throw unusable(`${target} is not a file.`, 'Name the file to write.')
}

/** SQLite would apply a -wal or -journal of an earlier file to the copy, and a process that has that file open would write to them. */
async function refuseCompanions(target: string): Promise<void> {
  for (const companion of companions) {
    const file = `${target}${companion}`
    if (!(await exists(file))) continue
    throw unusable(
      `${file} exists, which belongs to an earlier ${target} and would damage the copy.`,
      `Choose another file, or delete ${file} if no process uses ${target}.`,
    )
  }
}

async function copy(
  file: string,
  target: string,
  driver: SqliteDriver,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    await createEmpty(target, file)
    signal?.throwIfAborted()
    if (await tryToCopy(file, target, driver)) return
    await removeAside(target)
    await pause(attempt, file)
  }
}

/** Returns false if another connection has the lock. */
async function tryToCopy(file: string, target: string, driver: SqliteDriver): Promise<boolean> {
  let database: Database | undefined
  let isReadable = false
  try {
    database = await connectShared(file, driver)
    if (!hasTable(database, 'runs'))
      throw unusable(`${file} is not the file of a store.`, 'Name the file of a store.')
    readVersion(database, file)
    isReadable = true
    database.prepare('vacuum into ?').run(target)
    return true
  } catch (error) {
    if (isBusy(error)) return false
    // Any other fault is one of the target.
    throw isReadable && !isDamaged(error) ? error : explainFault(error, file)
  } finally {
    database?.close()
  }
}

/** Creates the file that is written. It has the rights of the original from the start, and its owner can write it. */
async function createEmpty(copied: string, original: string): Promise<void> {
  const { mode } = await stat(original)
  await writeFile(copied, '', { flag: 'wx', mode: (mode & 0o777) | 0o600 })
}

/** Returns the number of runs. @throws PawlError 'store-unusable' if the copy is damaged, as its original then is */
async function verify(copied: string, driver: SqliteDriver): Promise<number> {
  const database = await connectAlone(copied, driver)
  try {
    const found = database.pragma('integrity_check', { simple: true })
    if (found !== 'ok')
      throw unusable(
        `The copy is damaged: ${String(found)}.`,
        'Nothing was kept. Check the disk, and whether the original is damaged: `pragma integrity_check`.',
      )
    return database.prepare<[], number>('select count(*) from runs').pluck().get() ?? 0
  } finally {
    database.close()
  }
}

function taken(target: string): Error {
  return unusable(`${target} exists.`, 'Choose another file.')
}

function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
