import type { Sha256 } from '../../base/hash.ts'
import { LogDamaged } from '../../events/codec.ts'
import type { LogEvent, StoredEvent } from '../../events/event.ts'
import { firstGeneration, type Generation, generationOf, hashBefore } from '../../events/generation.ts'
import { HeldLog, LogCheck } from '../../events/log-check.ts'
import { LogHash, sealEvery } from '../../events/seal.ts'
import { nextRound } from '../../host/rounds.ts'
import type { RunKey, RunRow } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'

const firstPage = 10
const largestPage = 1_000
const pageBytes = 2 ** 20

type LoggedRun = Pick<RunRow, 'run' | 'head' | 'base' | 'link'>

/**
 * Yields the events of the present generation of a log page by page, verified in one pass, from `first` to before `end`.
 * Both are borders of blocks or ends of the generation. Default: all events.
 * @throws LogDamaged, WrittenLater
 */
export async function* readLogPages(
  store: StorePort,
  sha256: Sha256,
  row: LoggedRun,
  first: number = row.base,
  end: number = row.head,
): AsyncGenerator<readonly LogEvent[]> {
  const log = new HeldLog(await beginCheck(store, sha256, row, first))
  for await (const page of readPages(store, row.run, first, end)) {
    const verified = log.add(page)
    if (verified.length > 0) yield verified
  }
}

/** Returns the last event of a log, verified with its whole block. @throws LogDamaged, WrittenLater */
export async function readLastEvent(store: StorePort, sha256: Sha256, row: LoggedRun): Promise<LogEvent> {
  const first = firstOfBlock(row.head - 1, row.base)
  const check = await beginCheck(store, sha256, row, first)
  let last: StoredEvent | undefined
  // Only the last event is kept: a block may have many large payloads.
  for await (const page of readPages(store, row.run, first, row.head)) {
    check.addAll(page)
    last = page.at(-1)
  }
  return last as LogEvent
}

/** Returns the first event of the block that contains event `seq`, in a generation that begins at `base`. */
export function firstOfBlock(seq: number, base: number): number {
  return base + Math.floor((seq - base) / sealEvery) * sealEvery
}

/** Returns the present generation of a run. @throws LogDamaged, WrittenLater */
export async function readGeneration(
  store: StorePort,
  { run, base }: Pick<RunRow, 'run' | 'base'>,
): Promise<Generation> {
  return base === 0 ? firstGeneration : generationOf(base, (await store.log.load(run, base, 1))[0])
}

/** Creates the check of a log from event `first` on, which begins a block. @throws LogDamaged */
async function beginCheck(
  store: StorePort,
  sha256: Sha256,
  row: LoggedRun,
  first: number,
): Promise<LogCheck> {
  const { base } = row
  if (first === base) {
    const [started] = base === 0 ? [] : await store.log.load(row.run, base, 1)
    return new LogCheck(hashBefore(sha256, base, started), row, first)
  }
  const seal = (await store.log.load(row.run, first - 1, 1))[0]?.link ?? null
  if (seal === null) throw new LogDamaged(`its event ${first - 1} has no seal`)
  return new LogCheck(new LogHash(sha256, seal, first, base), row, first)
}

/**
 * Yields the events from `first` to before `end`, in pages of about a mebibyte, estimated from the previous page.
 * Pages are read in separate rounds of the event loop, so that an engine in the same process is not blocked. The last
 * page is empty if the log ends too early.
 */
export async function* readPages(
  store: StorePort,
  run: RunKey,
  first: number,
  end: number,
): AsyncGenerator<readonly StoredEvent[]> {
  for (let seq = first, size = firstPage; seq < end; ) {
    const page = await store.log.load(run, seq, Math.min(size, end - seq))
    yield page
    if (page.length === 0) return
    seq += page.length
    const bytes = page.reduce((sum, { payload }) => sum + (payload?.length ?? 0), 0)
    const fitting = Math.floor((pageBytes * page.length) / Math.max(1, bytes))
    size = Math.max(1, Math.min(largestPage, 2 * size, fitting))
    await nextRound()
  }
}
