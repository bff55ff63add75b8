import { open, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Writes a file so that readers see all of it or nothing, and so that it survives a power loss. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const unfinished = join(dirname(file), `.${basename(file)}.${process.pid}`)
  const handle = await open(unfinished, 'w', 0o660)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, file)
  await syncFolder(dirname(file))
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
