import type { LogEvent } from '../events/event.ts'
import { nextRound } from '../host/rounds.ts'
import type { RunRow, StorePort } from '../ports/store.ts'

const firstPage = 10
const largestPage = 1_000
const pageBytes = 2 ** 20

/**
 * A log page by page, each of about a mebibyte as far as the one before tells, with a round of the event loop between
 * them: whoever looks at a log must not keep an engine in the same process from its work.
 */
export async function* readLogPages(
  store: StorePort,
  { run, head }: RunRow,
): AsyncGenerator<readonly LogEvent[]> {
  for (let seq = 0, size = firstPage; seq < head; ) {
    const page = await store.load(run, seq, Math.min(size, head - seq))
    if (page.length === 0) return
    yield page
    seq += page.length
    const bytes = page.reduce((sum, { payload }) => sum + (payload?.length ?? 0), 0)
    const fitting = Math.floor((pageBytes * page.length) / Math.max(1, bytes))
    size = Math.max(1, Math.min(largestPage, 2 * size, fitting))
    await nextRound()
  }
}
