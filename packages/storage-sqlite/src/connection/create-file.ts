import { fsync } from 'node:fs'
import { constants, copyFile, link, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { nameAside, removeAside } from './aside.ts'

const syncDescriptor = promisify(fsync)

/**
 * Makes the file under another name and links it to its own name in one step, so that no process sees half of one. If
 * several processes do so at once, one wins. What a killed process leaves is for `removeLeftovers`.
 */
export async function createFile(file: string, make: (file: string) => Promise<void>): Promise<void> {
  const aside = nameAside(file)
  try {
    await make(aside)
    await sync(aside)
    await putInPlace(aside, file)
  } catch (error) {
    // Another process was faster. If this one stood still for a day, its file may also have been taken for a leftover.
    const isElsewhere = hasCode(error, 'EEXIST') || hasCode(error, 'ENOENT')
    if (!isElsewhere || !(await exists(file))) throw error
  } finally {
    await removeAside(aside)
  }
  await sync(dirname(file))
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

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}

function hasCode(error: unknown, code: string): boolean {
  // Not by its class: where tests run in a context of their own, errors of Node are of another one.
  return (error as NodeJS.ErrnoException | null)?.code === code
}
