import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** How a file can be compressed, as HTTP names it, best first; and the end of its name. */
const encodings = { br: '.br', gzip: '.gz' } as const
export type Encoding = keyof typeof encodings
const encodingNames = Object.keys(encodings) as readonly Encoding[]

type Content = Uint8Array<ArrayBuffer>

/** A built file of the inbox, also as the build has compressed it. */
export interface Asset {
  readonly body: Content
  readonly type: string
  readonly encoded: { readonly [E in Encoding]?: Content }
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
    const names = new Set(await readdir(join(folder, 'assets')))
    const plain = [...names].filter((name) => !/\.(br|gz)$/.test(name))
    const assets = await Promise.all(plain.map((name) => readAsset(join(folder, 'assets'), name, names)))
    return { page, assets: new Map(assets) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

async function readAsset(folder: string, name: string, names: ReadonlySet<string>): Promise<[string, Asset]> {
  const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  const read = async (file: string): Promise<Content> => new Uint8Array(await readFile(join(folder, file)))
  const encoded: { [E in Encoding]?: Content } = {}
  for (const encoding of encodingNames) {
    const file = `${name}${encodings[encoding]}`
    if (names.has(file)) encoded[encoding] = await read(file)
  }
  return [name, { body: await read(name), type, encoded }]
}

/** Returns the best form of a file that a request takes, by its header Accept-Encoding. */
export function bestForm(
  { body, encoded }: Asset,
  accepted: string | undefined,
): { readonly body: Content; readonly encoding?: Encoding } {
  const taken = new Set(
    (accepted ?? '')
      .split(',')
      .map((one) => one.trim().toLowerCase())
      .filter((one) => !/;\s*q=0(\.0*)?$/.test(one))
      .map((one) => one.split(';')[0]?.trim()),
  )
  for (const encoding of encodingNames) {
    const form = encoded[encoding]
    if (form !== undefined && taken.has(encoding)) return { body: form, encoding }
  }
  return { body }
}
