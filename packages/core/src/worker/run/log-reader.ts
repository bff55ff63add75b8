import type { Sha256 } from '../../base/hash.ts'
import { isUnread, LogDamaged } from '../../events/codec.ts'
import type { LogEvent, StoredEvent } from '../../events/event.ts'
import { hashBefore } from '../../events/generation.ts'
import { HeldLog, LogCheck, type LogHead } from '../../events/log-check.ts'
import { type LogHash, sealEvery } from '../../events/seal.ts'
import type { LogStore } from '../../ports/store/log.ts'
import type { RunKey } from '../../ports/store/runs.ts'

/** Whole blocks, so that every event of a page can be verified. */
const pageSize = 16 * sealEvery
/** Delay before a failed read is retried. */
export const readAgainMs = 1_000

/** The store did not answer a read. The data may be intact: the read is retried. */
export class ReadFailed extends Error {
  override readonly name = 'ReadFailed'
}

/** Rethrows an error about the data of a run as it is, and any other error of the store as {@link ReadFailed}. */
export function passOn(error: unknown): never {
  if (isUnread(error)) throw error
  throw new ReadFailed('the store could not be read', { cause: error })
}

/** The end of a log, and where its present generation begins. */
export interface GenerationEnd extends LogHead {
  readonly base: number
}

/** Reads the present generation of a log page by page and returns only verified events. */
export class LogReader {
  readonly #store: { readonly log: Pick<LogStore, 'load'> }
  readonly #sha256: Sha256
  readonly #run: RunKey
  readonly #end: GenerationEnd
  #hash: LogHash | null = null
  #log: HeldLog | null = null

  constructor(
    store: { readonly log: Pick<LogStore, 'load'> },
    sha256: Sha256,
    run: RunKey,
    end: GenerationEnd,
  ) {
    this.#store = store
    this.#sha256 = sha256
    this.#run = run
    this.#end = end
  }

  /** The hash of the events read so far; null before the first. */
  get hash(): LogHash | null {
    return this.#hash
  }

  /** Yields the events. @throws LogDamaged, WrittenLater, PayloadCorrupt, ReadFailed */
  async *pages(): AsyncGenerator<readonly LogEvent[]> {
    const { base, head } = this.#end
    if (head <= base) throw new LogDamaged(`its log should have ${head} events`)
    let seq = base
    for (let reading = this.#read(seq); reading !== null; ) {
      const page = await reading
      seq += page.length
      // Fetched while the caller processes this page.
      reading = page.length === 0 ? null : this.#read(seq)
      const verified = this.#begin(page).add(page)
      if (verified.length > 0) yield verified
    }
  }

  #begin([first]: readonly StoredEvent[]): HeldLog {
    if (this.#log !== null) return this.#log
    const { base } = this.#end
    this.#hash = hashBefore(this.#sha256, base, first)
    this.#log = new HeldLog(new LogCheck(this.#hash, this.#end, base))
    return this.#log
  }

  /** Null at the end of the log. */
  #read(seq: number): Promise<readonly StoredEvent[]> | null {
    const { head } = this.#end
    if (seq >= head) return null
    const reading = this.#store.log.load(this.#run, seq, Math.min(pageSize, head - seq)).catch(passOn)
    // A caller that stops early is not told of a failed read.
    reading.catch(() => {})
    return reading
  }
}
