import type { RunKey } from './runs.ts'

/** What has happened in the whole store: asks opened and closed; runs ended, stuck and quarantined; notices. */
export interface FeedStore {
  /** Reads what has happened after number `after`, in order, at most `limit` entries. Each entry is written in the commit it tells of. */
  read(after: number, limit: number): Promise<FeedPage>
  /**
   * Deletes, of the oldest `limit` entries, all that were written before that instant, but never the newest entry of the feed.
   * Returns the number of deleted entries.
   */
  trim(before: number, limit: number): Promise<number>
}

/** The kinds of entries. Stores keep the place in this list: append to it. */
export const feedKinds = [
  'ask-opened',
  'ask-closed',
  'run-ended',
  'run-stuck',
  'run-quarantined',
  'notice',
] as const

/** The kind of an entry. */
export type FeedKind = (typeof feedKinds)[number]

/** One thing that has happened. */
export interface FeedEntry {
  /** Dense: the number of the entry before, plus one. No lower number appears later. */
  readonly n: number
  readonly at: number
  /** A number stands for a kind that this version does not know. */
  readonly kind: FeedKind | number
  readonly run: string
  readonly runKey: RunKey
  /** Of the ask; the number of the notice, for an entry about one; null for an entry about a run. */
  readonly position: number | null
}

/** A part of the feed. */
export interface FeedPage {
  readonly entries: readonly FeedEntry[]
  /** The lowest number that is kept; 0 for an empty feed. */
  readonly oldest: number
  /** The highest number; 0 for an empty feed. It is kept however old it is. */
  readonly newest: number
}

/** How long entries are kept, in ms. */
export const feedKeptMs: number = 7 * 24 * 60 * 60 * 1_000
