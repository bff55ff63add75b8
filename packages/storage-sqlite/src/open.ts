import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { docsPage, PawlError } from '@pawl/core/storage'
import type { Database } from 'better-sqlite3'
import { removeLeftovers } from './connection/aside.ts'
import { createFile } from './connection/create-file.ts'
import { connectDriver } from './connection/driver.ts'
import { readFileSystem } from './connection/file-system.ts'
import { pause } from './connection/retry.ts'
import { explainFault, isBusy } from './faults.ts'
import { adoptCopy } from './schema/copies.ts'
import { newestVersion, readVersion } from './schema/version.ts'
import { unusable } from './unusable.ts'

/**
 * Opens the file, made first if it is not there, checks that it is fit for use, and migrates it.
 * @param patienceMs how long it waits for a lock before it gives up
 * @throws PawlError 'store-unusable' with the remedy
 */
export async function openDatabase(file: string, patienceMs = 30_000): Promise<Database> {
  checkName(file)
  await checkPlace(file)
  await removeLeftovers(file)
  if ((await readSize(file)) === undefined) {
    await createFile(file, makeSchema).catch((error: unknown) => {
      throw explainCreation(error, file)
    })
  }
  await checkFile(file)
  const deadline = Date.now() + patienceMs
  for (let attempt = 0; ; attempt++) {
    try {
      return await prepareDatabase(file)
    } catch (error) {
      if (!isBusy(error)) throw explainFault(error, file)
      if (Date.now() > deadline) {
        throw unusable(
          `Another process has held the lock of ${file} for ${patienceMs / 1000} s.`,
          'Look for a process that uses the file and hangs or is stopped (fuser names them), and end it.',
          error,
        )
      }
      await pause(attempt, file)
    }
  }
}

/** A new file with everything in it. Nothing is synced: the file counts only once it is in its place. */
async function makeSchema(file: string): Promise<void> {
  const database = connectDriver(file)
  try {
    database.pragma('synchronous = off')
    database.pragma('page_size = 2048')
    database.pragma('journal_mode = wal')
    await bringUpToDate(database, file)
    // The place it is moved to is the same file.
    adoptCopy(database, file)
  } finally {
    database.close()
  }
}

function explainCreation(error: unknown, file: string): unknown {
  const explained = explainFault(error, file)
  if (explained !== error || PawlError.is(error)) return explained
  return unusable(
    `${file} cannot be created: ${(error as Error).message}.`,
    `Give this user write access to ${dirname(file)}, and look whether its disk is full or read-only.`,
    error,
  )
}

/** A connection as every one must be. Busy errors come through. */
async function prepareDatabase(file: string): Promise<Database> {
  const database = connectDriver(file)
  try {
    expectPragma(database, file, 'journal_mode = wal', 'wal')
    // The library is built so that WAL means NORMAL, which loses commits with the power.
    database.pragma('synchronous = full')
    // Where fsync alone does not reach the disk (macOS).
    database.pragma('fullfsync = on')
    database.pragma('checkpoint_fullfsync = on')
    database.pragma('wal_autocheckpoint = 4000')
    database.pragma(`journal_size_limit = ${64 * 1024 * 1024}`)
    await bringUpToDate(database, file)
    adoptCopy(database, file)
    // Only now: a default is set with the first read.
    expectPragma(database, file, 'synchronous', 2)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** What migrates is loaded only where there is something to do: kysely takes longer to load than all the rest. */
async function bringUpToDate(database: Database, file: string): Promise<void> {
  if (readVersion(database, file) === newestVersion) return
  const { migrate } = await import('./schema/migrate.ts')
  migrate(database, file)
}

function expectPragma(database: Database, file: string, pragma: string, expected: string | number): void {
  const actual = database.pragma(pragma, { simple: true })
  if (actual === expected) return
  throw unusable(
    `SQLite answers ${JSON.stringify(actual)} to "pragma ${pragma}" for ${file}, and nothing is safe without ${JSON.stringify(expected)}.`,
    'Put the file on a local file system of this machine, and do not replace the SQLite of better-sqlite3.',
  )
}

function checkName(file: string): void {
  if (file !== '' && basename(file) !== ':memory:') return
  throw unusable(
    'The SQLite store needs the name of a file: what it holds must outlive the process.',
    "Give sqlite() a name such as 'pawl.db', or use memory() of @pawl/testing where nothing has to be kept.",
  )
}

async function checkPlace(file: string): Promise<void> {
  const directory = dirname(file)
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw unusable(
      `The directory ${directory} is not there, or cannot be written to.`,
      `Create ${directory}, or give this user write access to it: SQLite keeps two more files beside the database.`,
      error,
    )
  }
  const system = await readFileSystem(file)
  if (system.verdict === 'unfit') {
    throw unusable(
      `${file} is on ${system.name}, where SQLite cannot keep several processes apart.`,
      'Put the file on a local disk, or use PostgreSQL for several machines.',
    )
  }
  if (system.verdict === 'fleeting') {
    process.emitWarning(
      `${file} is on ${system.name}, the layer of a container, and is deleted with it. Put it on a volume.`,
      { code: 'PAWL_STORE_FLEETING' },
    )
  }
}

async function checkFile(file: string): Promise<void> {
  if ((await readSize(file)) === 0) {
    throw unusable(
      `${file} is empty, and Pawl never leaves an empty file.`,
      `If there were runs in it, restore a backup (${docsPage('guides/sqlite')}); otherwise delete ${file} and start again.`,
    )
  }
  try {
    await access(file, constants.R_OK | constants.W_OK)
  } catch (error) {
    throw unusable(`${file} cannot be written to.`, `Give this user read and write access to ${file}.`, error)
  }
}

async function readSize(file: string): Promise<number | undefined> {
  const entry = await stat(file).catch(() => undefined)
  if (!entry) return undefined
  if (entry.isFile()) return entry.size
  throw unusable(`${file} is not a file.`, 'Give sqlite() the name of a file, such as pawl.db.')
}
