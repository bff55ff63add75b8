import { constants } from 'node:fs'
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

/** A text, or why there is none and never will be: it is not an ordinary file, or it is too large. */
export type FileText = { readonly text: string } | { readonly unfit: string }

// A pipe must not wait for its writer, and a link must not name the file of another user. Windows has neither.
const reading = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)

/** Reads an ordinary file of limited size. Never waits for another process. @throws if it cannot be read now */
export async function readWhole(file: string, maxBytes: number): Promise<FileText> {
  const handle = await open(file, reading).catch((error: NodeJS.ErrnoException) => {
    // ELOOP is a link, ENXIO a socket.
    if (error.code === 'ELOOP' || error.code === 'ENXIO') return null
    throw error
  })
  if (handle === null) return notOrdinary
  try {
    const found = await handle.stat()
    if (!found.isFile()) return notOrdinary
    if (found.size > maxBytes) return { unfit: `It has ${found.size} bytes, and may have ${maxBytes}.` }
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(found.size), 0, found.size, 0)
    return { text: buffer.toString('utf8', 0, bytesRead) }
  } finally {
    await handle.close()
  }
}

const notOrdinary = { unfit: 'It is not an ordinary file.' } as const

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
