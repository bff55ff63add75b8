import { randomUUID } from 'node:crypto'
import { fsync } from 'node:fs'
import { constants, copyFile, link, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

const syncDescriptor = promisify(fsync)

/**
 * Makes the file aside and puts it in its place in one move, so that nobody ever meets half of one: whoever
 * is killed here leaves no file, and of several processes one wins.
 */
export async function createFile(file: string, make: (file: string) => Promise<void>): Promise<void> {
  const aside = `${file}.${randomUUID()}.new`
  try {
    await make(aside)
    await sync(aside)
    await putInPlace(aside, file).catch(ignoreTaken)
    await sync(dirname(file))
  } finally {
    await rm(aside, { force: true })
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    // By its number: a handle of Yarn's Plug'n'Play cannot do it itself.
    await syncDescriptor(handle.fd)
  } finally {
    await handle.close()
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
  // Not by its class: where tests run in a context of their own, errors of Node are of another one.
  return (error as NodeJS.ErrnoException | null)?.code === code
}
