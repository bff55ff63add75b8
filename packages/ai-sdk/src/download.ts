import type { AttemptOptions, Ctx } from '@pawl/core'
import { createDownload } from 'ai'

/** Options of {@link durableDownload}. */
export interface DownloadOptions extends AttemptOptions {
  /** Maximum size of a file, in bytes. Default and maximum: 1.9 MiB, because the log keeps it. */
  readonly maxBytes?: number
  /** Transport, such as one that checks the addresses of host names. AI SDK 7 only. Default: `globalThis.fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

/** A file that the SDK asked for; null if the model reads the URL itself. */
type Downloaded = { readonly data: Uint8Array; readonly mediaType: string | undefined } | null

const maxInlineBytes = Math.floor(1.9 * 1_024 * 1_024)

/**
 * Downloads files of a prompt that the model cannot read itself, each as a step of the run. Without it the SDK fetches
 * them in the procedure, which Pawl refuses. The SDK's own download is used, with its checks of URLs. Pass it as `experimental_download` of `generateText` and `streamText`.
 * @example await generateText({ model, experimental_download: durableDownload(ctx), messages })
 */
export function durableDownload(
  ctx: Pick<Ctx, 'step'>,
  { maxBytes = maxInlineBytes, fetch, ...options }: DownloadOptions = {},
): (files: readonly { url: URL; isUrlSupportedByModel: boolean }[]) => Promise<Downloaded[]> {
  const limit = Math.min(maxBytes, maxInlineBytes)
  const load = createDownload({ maxBytes: limit, ...(fetch && { fetch }) })
  const download = (url: URL) =>
    ctx.step(`download ${url.host}`, ({ signal }) => load({ url, abortSignal: signal }), options)
  return (files) =>
    Promise.all(files.map(async (file) => (file.isUrlSupportedByModel ? null : download(file.url))))
}
