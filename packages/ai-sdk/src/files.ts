import { FinalError } from '@pawl/core'
import { createDownload } from 'ai'

/** A file that a model generated. */
export interface ModelFile {
  readonly mediaType: string
  /** Content as bytes. */
  readonly data: Uint8Array
  /** Key that every attempt of the call shares, with the index of the file. Use it as the file's name. */
  readonly key: string
}

/** Options for files that a model generates. */
export interface FileOptions {
  /**
   * Stores a generated file elsewhere and returns its URL. The log then keeps the URL as the text of the file. It runs in the
   * recorded body, once per file and attempt. Default: the content is kept in the log, up to 2 MiB per call.
   */
  readonly files?: (file: ModelFile) => Promise<string>
}

// Below the limit of a payload, which also holds the rest of the result.
const maxInlineBytes = 2 * 1_024 * 1_024 - 64 * 1_024

interface Tagged {
  readonly type: string
  readonly data?: string | Uint8Array
  readonly url?: unknown
}

/** A part of content that may be a file. */
interface Part {
  readonly type: string
  readonly mediaType?: string
  readonly data?: unknown
}

/**
 * Stores the files among the parts elsewhere, or checks that the log can keep them.
 * @throws FinalError if they are too large and `files` is not set
 */
export async function keepFiles<P extends Part>(
  parts: readonly P[],
  { files }: FileOptions,
  key: string,
): Promise<P[]> {
  const kept: P[] = []
  let bytes = 0
  for (const [index, part] of parts.entries()) {
    const content = await contentOf(part)
    if (content === null) {
      kept.push(part)
      continue
    }
    const data = files ? await moveFile(part, content, files, `${key}-${index}`) : content
    bytes += data.length
    if (bytes > maxInlineBytes) throw tooLarge(bytes)
    kept.push({ ...part, data: isTagged(part.data) ? { type: 'data', data } : data })
  }
  return kept
}

/** Stores a file elsewhere. Returns its URL as the content, since the SDK would download a file given by URL. */
async function moveFile(
  { mediaType = 'application/octet-stream' }: Part,
  content: string | Uint8Array,
  store: (file: ModelFile) => Promise<string>,
  key: string,
): Promise<string> {
  const data = typeof content === 'string' ? Buffer.from(content, 'base64') : content
  return Buffer.from(await store({ mediaType, data, key })).toString('base64')
}

/** Returns the content of a file; null for any other part. Downloads a file given by URL, as the SDK would in the procedure. */
async function contentOf({ type, data }: Part): Promise<string | Uint8Array | null> {
  if (type !== 'file' && type !== 'reasoning-file') return null
  if (typeof data === 'string' || data instanceof Uint8Array) return data
  if (!isTagged(data)) return null
  if (data.type === 'data') return data.data ?? null
  return (await createDownload()({ url: new URL(String(data.url)) })).data
}

/** Returns whether the data of a file is in the form of specification 4. */
function isTagged(data: unknown): data is Tagged {
  return typeof data === 'object' && data !== null && 'type' in data
}

/** The error for files that the log cannot keep. The model was paid for, so the call must not be repeated. */
export function tooLarge(bytes: number): FinalError {
  const size = (bytes / 1_024 / 1_024).toFixed(1)
  return new FinalError(
    `The model returned ${size} MiB of files; the log keeps up to 2 MiB per call. Set the option \`files\` of the durable model to store them elsewhere.`,
    { code: 'files-too-large' },
  )
}
