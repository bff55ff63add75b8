import { fsync } from 'node:fs'
import { constants, copyFile, link, open, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { nameAside, removeAside } from './aside.ts'

const syncDescriptor = promisify(fsync)

/** Creates the file. If several processes do this at once, one wins. */
export async function createFile(file: string, make: (aside: string) => Promise<void>): Promise<void> {
  try {
    await writeWhole(file, make)
  } catch (error) {
    // Another process won. If this one was suspended for a day, its file may also have been removed as a leftover.
    const isElsewhere = hasCode(error, 'EEXIST') || hasCode(error, 'ENOENT')
    if (!isElsewhere || !(await exists(file))) throw error
    await sync(dirname(file))
  }
}

/**
 * Writes the file under a temporary name and gives it its name in one step, so that no process sees a partial file.
 * `removeLeftovers` cleans up after a killed process. If the file exists and is not replaced, it rejects with EEXIST.
 */
export async function writeWhole<Result>(
  file: string,
  make: (aside: string) => Promise<Result>,
  { replaces = false }: { readonly replaces?: boolean } = {},
): Promise<Result> {
  const aside = nameAside(file)
  let made: Result
  try {
    made = await make(aside)
    await sync(aside)
    if (replaces) await rename(aside, file)
    else await putInPlace(aside, file)
  } finally {
    await removeAside(aside)
  }
  await sync(dirname(file))
  return made
}

/** Writes what the file system holds of a file or a directory to the disk. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    // Uses the descriptor, because file handles of Yarn's Plug'n'Play have no `sync`.
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
    // The file system has no links: the copy is not atomic, but it never overwrites an existing file.
    await copyFile(aside, file, constants.COPYFILE_EXCL)
    await sync(file)
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}

export function hasCode(error: unknown, code: string): boolean {
  // No `instanceof`: test runners with their own context have a different `Error` class than Node.
  return (error as NodeJS.ErrnoException | null)?.code === code
}
