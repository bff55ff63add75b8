import { randomUUID } from 'node:crypto'
import { constants, copyFile, link, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'

/**
 * Makes the file aside and puts it in its place in one move, so that nobody ever meets half of one: whoever
 * is killed here leaves no file, and of several processes one wins.
 */
export async function createFile(file: string, prepare: (file: string) => Database): Promise<void> {
  const aside = `${file}.${randomUUID()}.new`
  try {
    // Closing the only connection moves everything from the -wal into the file.
    prepare(aside).close()
    await putInPlace(aside, file).catch(ignoreTaken)
    const directory = await open(dirname(file), 'r')
    await directory.sync().finally(() => directory.close())
  } finally {
    await rm(aside, { force: true })
  }
}

async function putInPlace(aside: string, file: string): Promise<void> {
  try {
    await link(aside, file)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw error
    // A file system without links: not in one move, but still never over a file that is there.
    await copyFile(aside, file, constants.COPYFILE_EXCL)
  }
}

function ignoreTaken(error: unknown): void {
  if (!hasCode(error, 'EEXIST')) throw error
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
