import { constants } from 'node:fs'
import { access, stat, writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { docsPage } from '@pawl/core/storage'
import { removeLeftovers } from './connection/aside.ts'
import { createFile } from './connection/create-file.ts'
import type { Database } from './connection/database.ts'
import { connectAlone, connectShared, type SqliteDriver } from './connection/driver.ts'
import { readFileSystem } from './connection/file-system.ts'
import { pause } from './connection/retry.ts'
import { explainCreation, explainFault, isBusy } from './faults.ts'
import { adoptCopy } from './schema/copies.ts'
import { newestVersion, readVersion } from './schema/version.ts'
import { unusable } from './unusable.ts'

/**
 * Opens the file, checks that it is usable, and migrates it. Creates the file if it does not exist.
 * @param patienceMs maximum wait for a lock, in ms
 * @throws PawlError 'store-unusable' with the remedy
 */
export async function openDatabase(
  file: string,
  driver: SqliteDriver,
  patienceMs = 30_000,
): Promise<Database> {
  checkName(file)
  await checkPlace(file)
  await removeLeftovers(file)
  if ((await readSize(file)) === undefined) {
    await createFile(file, (aside) => makeSchema(aside, driver)).catch((error: unknown) => {
      throw explainCreation(error, file)
    })
  }
  await checkFile(file)
  const deadline = Date.now() + patienceMs
  for (let attempt = 0; ; attempt++) {
    try {
      return await prepareDatabase(file, driver)
    } catch (error) {
      if (!isBusy(error)) throw explainFault(error, file)
      if (Date.now() > deadline) {
        throw unusable(
          `Another process has held the lock of ${file} for ${patienceMs / 1000} s.`,
          'Find the process that hangs or is suspended (`fuser` lists the processes that use the file), and end it.',
          error,
        )
      }
      await pause(attempt, file)
    }
  }
}

/** Creates a file with the schema. Syncs nothing: the file has no effect until it is linked to its name. */
async function makeSchema(file: string, driver: SqliteDriver): Promise<void> {
  // Payloads are not encrypted: only the owner may read them. SQLite gives its other files the same rights.
  await writeFile(file, '', { flag: 'wx', mode: 0o600 })
  const database = await connectAlone(file, driver)
  try {
    database.pragma('synchronous = off')
    database.pragma('page_size = 2048')
    // So that deleted runs make the file smaller.
    database.pragma('auto_vacuum = incremental')
    database.pragma('journal_mode = wal')
    await bringUpToDate(database, file)
    // After the link, the final name refers to the same file.
    adoptCopy(database, file)
  } finally {
    database.close()
  }
}

/** Opens a connection and sets its pragmas. Throws busy errors as they are. */
async function prepareDatabase(file: string, driver: SqliteDriver): Promise<Database> {
  const database = await connectShared(file, driver)
  try {
    expectPragma(database, file, 'journal_mode = wal', 'wal')
    // better-sqlite3 is compiled to use NORMAL with WAL, which loses commits on power loss.
    database.pragma('synchronous = full')
    // On macOS, fsync alone does not reach the disk.
    database.pragma('fullfsync = on')
    database.pragma('checkpoint_fullfsync = on')
    database.pragma('wal_autocheckpoint = 4000')
    database.pragma(`journal_size_limit = ${64 * 1024 * 1024}`)
    await bringUpToDate(database, file)
    adoptCopy(database, file)
    // Checked last: defaults apply at the first read.
    expectPragma(database, file, 'synchronous', 2)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Migrates the file. Loads the migrations only if needed, because kysely takes longer to load than everything else. */
async function bringUpToDate(database: Database, file: string): Promise<void> {
  if (readVersion(database, file) === newestVersion) return
  const { migrate } = await import('./schema/migrate.ts')
  migrate(database, file)
}

function expectPragma(database: Database, file: string, pragma: string, expected: string | number): void {
  const actual = database.pragma(pragma, { simple: true })
  if (actual === expected) return
  throw unusable(
    `SQLite returned ${JSON.stringify(actual)} for "pragma ${pragma}" of ${file}; Pawl requires ${JSON.stringify(expected)}.`,
    'Put the file on a local file system, and use the SQLite that comes with the driver.',
  )
}

function checkName(file: string): void {
  if (file !== '' && basename(file) !== ':memory:') return
  throw unusable(
    'The SQLite store needs a file, because runs must outlive the process.',
    "Pass `sqlite()` a path such as 'pawl.db', or use `memory()` of @pawl/testing if runs need not be kept.",
  )
}

/** @throws PawlError 'store-unusable' if no file can be created beside the file */
export async function checkDirectory(file: string): Promise<void> {
  const directory = dirname(file)
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw unusable(
      `The directory ${directory} does not exist or is not writable.`,
      `Create ${directory}, or give this user write access to it. SQLite keeps two more files beside the database.`,
      error,
    )
  }
}

async function checkPlace(file: string): Promise<void> {
  await checkDirectory(file)
  const system = await readFileSystem(file)
  if (system.verdict === 'unfit') {
    throw unusable(
      `${file} is on ${system.name}, where SQLite cannot isolate processes from each other.`,
      'Put the file on a local disk, or use PostgreSQL to share a store between machines.',
    )
  }
  if (system.verdict === 'fleeting') {
    process.emitWarning(
      `${file} is on ${system.name}, a container layer, and is deleted with the container. Put it on a volume.`,
      { code: 'PAWL_STORE_FLEETING' },
    )
  }
}

async function checkFile(file: string): Promise<void> {
  if ((await readSize(file)) === 0) {
    throw unusable(
      `${file} is empty. Pawl never creates an empty file.`,
      `If it contained runs, restore a backup (${docsPage('guides/sqlite')}). Otherwise delete ${file} and start again.`,
    )
  }
  try {
    await access(file, constants.R_OK | constants.W_OK)
  } catch (error) {
    throw unusable(`${file} is not writable.`, `Give this user read and write access to ${file}.`, error)
  }
}

async function readSize(file: string): Promise<number | undefined> {
  const entry = await stat(file).catch(() => undefined)
  if (!entry) return undefined
  if (entry.isFile()) return entry.size
  throw unusable(`${file} is not a file.`, "Pass `sqlite()` the path of a file, such as 'pawl.db'.")
}
