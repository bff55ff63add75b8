import type { AskIds } from '../asks/ask-id.ts'
import { topics } from '../base/notifier.ts'
import { readAskSlot } from '../ports/ask-slot.ts'
import type { FeedEntry, FeedKind, FeedPage } from '../ports/store/feed.ts'
import type { Connection } from './connection.ts'

/** What has happened in the store, as streams show it. `n` numbers all events without gaps. */
export type FeedEvent =
  | {
      readonly event: 'ask.opened' | 'ask.closed'
      readonly n: number
      readonly at: Date
      readonly ask: string
      readonly run: string
      readonly position: number
    }
  | {
      readonly event: 'run.ended' | 'run.stuck' | 'run.quarantined'
      readonly n: number
      readonly at: Date
      readonly run: string
    }
  /** People are told something. `notice` is its id: see `inbox.notices`. */
  | {
      readonly event: 'notice'
      readonly n: number
      readonly at: Date
      readonly run: string
      readonly notice: string
    }
  /** Events after `after` were deleted. `n` is the newest number: list again, and continue there. */
  | { readonly event: 'reset'; readonly n: number; readonly at: Date }

/** Where to begin, and when to end. */
export interface FollowOptions {
  /** The number of the last event that was seen; undefined: from now on. */
  readonly after: number | undefined
  readonly signal: AbortSignal | undefined
  /** Where to continue after deleted events: at the oldest that is left, or after the newest. Default: 'newest'. */
  readonly onReset?: 'oldest' | 'newest'
}

const pageSize = 200

const names = {
  'ask-opened': 'ask.opened',
  'ask-closed': 'ask.closed',
  'run-ended': 'run.ended',
  'run-stuck': 'run.stuck',
  'run-quarantined': 'run.quarantined',
  notice: 'notice',
} as const satisfies Record<FeedKind, FeedEvent['event']>

/** Yields the events of a store in the order of their numbers, until the signal aborts. @throws PawlError 'engine-stopped' */
export async function* followFeed(
  connection: Connection,
  { after, signal, onReset = 'newest' }: FollowOptions,
): AsyncGenerator<FeedEvent, void, undefined> {
  let seen = after ?? (await newestOf(connection))
  const wake = (): void => connection.notifier.notify(topics.feed)
  signal?.addEventListener('abort', wake)
  const isOver = (): boolean => signal?.aborted === true
  try {
    while (!isOver()) {
      const page = await nextPage(connection, seen, signal)
      if (page === 'aborted') return
      if (isReset(page, seen)) {
        const at = new Date(await (await connection.store()).now())
        // Of another store than `seen` is of, nothing is known to be new.
        seen = onReset === 'oldest' && seen < page.oldest ? page.oldest - 1 : page.newest
        yield { event: 'reset', n: seen, at }
        continue
      }
      for (const entry of page.entries) {
        seen = entry.n
        const event = showEntry(connection.askIds, entry)
        if (event !== undefined) yield event
        if (isOver()) return
      }
    }
  } finally {
    signal?.removeEventListener('abort', wake)
  }
}

/** Returns the number of the newest event; 0 if there is none. */
export async function newestOf(connection: Connection): Promise<number> {
  const store = await connection.begin()
  return (await store.feed.read(Number.MAX_SAFE_INTEGER, 1)).newest
}

/** Waits until there is something after `seen`. */
function nextPage(
  connection: Connection,
  seen: number,
  signal: AbortSignal | undefined,
): Promise<FeedPage | 'aborted'> {
  const look = async (): Promise<FeedPage | 'aborted' | undefined> => {
    if (signal?.aborted === true) return 'aborted'
    const page = await (await connection.store()).feed.read(seen, pageSize)
    return page.entries.length > 0 || isReset(page, seen) ? page : undefined
  }
  return connection.wait(topics.feed, look, null, 'by-writes')
}

/** Events were deleted, or the store is another one than `seen` is of: a restored backup, say. */
function isReset({ oldest, newest }: FeedPage, seen: number): boolean {
  return seen < oldest - 1 || seen > newest
}

function showEntry(
  askIds: AskIds,
  { n, at: ms, kind, run, runKey, position }: FeedEntry,
): FeedEvent | undefined {
  // A later version wrote it.
  if (typeof kind === 'number') return undefined
  const event = names[kind]
  const at = new Date(ms)
  if (event === 'ask.opened' || event === 'ask.closed') {
    if (position === null) return undefined
    const ask = askIds.idOf({ runKey, run, position })
    return { event, n, at, ask, run, position: readAskSlot(position).position }
  }
  if (event === 'notice')
    return position === null ? undefined : { event, n, at, run, notice: String(position) }
  return { event, n, at, run }
}
