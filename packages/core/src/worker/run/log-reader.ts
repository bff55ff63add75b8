import { isUnread } from '../../events/codec.ts'
import type { LogEvent, StoredEvent } from '../../events/event.ts'
import { HeldLog, LogCheck, type LogHead } from '../../events/log-check.ts'
import { type LogHash, sealEvery } from '../../events/seal.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'

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

/** Reads a log page by page and returns only verified events. */
export class LogReader {
  readonly #store: Pick<StorePort, 'load'>
  readonly #run: RunKey
  readonly #end: LogHead
  readonly #log: HeldLog

  /** `hash`: the hash of the empty log; it advances with the read events. */
  constructor(store: Pick<StorePort, 'load'>, run: RunKey, end: LogHead, hash: LogHash) {
    this.#store = store
    this.#run = run
    this.#end = end
    this.#log = new HeldLog(new LogCheck(hash, end))
  }

  /** Yields the log. @throws LogDamaged, WrittenLater, PayloadCorrupt, ReadFailed */
  async *pages(): AsyncGenerator<readonly LogEvent[]> {
    let seq = 0
    for (let reading = this.#read(seq); reading !== null; ) {
      const page = await reading
      seq += page.length
      // Fetched while the caller processes this page.
      reading = page.length === 0 ? null : this.#read(seq)
      const verified = this.#log.add(page)
      if (verified.length > 0) yield verified
    }
  }

  /** Null at the end of the log. */
  #read(seq: number): Promise<readonly StoredEvent[]> | null {
    const { head } = this.#end
    if (seq >= head) return null
    const reading = this.#store.load(this.#run, seq, Math.min(pageSize, head - seq)).catch(passOn)
    // A caller that stops early is not told of a failed read.
    reading.catch(() => {})
    return reading
  }
}
