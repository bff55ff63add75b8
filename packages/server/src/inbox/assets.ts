import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** A built file of the inbox. */
interface Asset {
  readonly body: Uint8Array<ArrayBuffer>
  readonly type: string
}

/** The built files of the inbox: its page, and what the page loads, by file name. */
export interface InboxFiles {
  readonly page: string
  readonly assets: ReadonlyMap<string, Asset>
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/**
 * Reads the built files of `@pawl/inbox`. All of them are a few kilobytes, and a name of a request is only ever a key of this map.
 * Returns null if the inbox is not built.
 */
export async function readInbox(): Promise<InboxFiles | null> {
  const folder = join(dirname(createRequire(import.meta.url).resolve('@pawl/inbox/package.json')), 'dist')
  try {
    const page = await readFile(join(folder, 'index.html'), 'utf8')
    const names = await readdir(join(folder, 'assets'))
    const assets = await Promise.all(names.map((name) => readAsset(join(folder, 'assets'), name)))
    return { page, assets: new Map(assets) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

async function readAsset(folder: string, name: string): Promise<[string, Asset]> {
  const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  return [name, { body: new Uint8Array(await readFile(join(folder, name))), type }]
}
