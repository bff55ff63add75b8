import type { StoredEvent } from '../events/event.ts'
import { eventTypeCode, feedCode, hiddenState, markCode, operationKindCode, stateCode } from './codes.ts'
import { isSuspect } from './crash-loops.ts'
import type { Claimed } from './store/claims.ts'
import type { FeedEntry } from './store/feed.ts'
import type { EndedPage } from './store/removals.ts'
import type { RunKey } from './store/runs.ts'

// Shared by the SQL stores: the rows of a statement, and their conversion to the types of the port.

/** An event in a page of a log, as JSON. */
export type EventRow = readonly [
  seq: number,
  at: number,
  epoch: number,
  type: number,
  position: number,
  turn: number,
  kind: number | null,
  nth: number,
  failed: number,
  tookMs: number | null,
  name: string,
  /** The size of the payload, in bytes. */
  size: number | null,
  /** As hexadecimal digits. */
  link: string | null,
]

// By index: destructuring each row would use an iterator, which slows a cold start.
/** Converts the row of an event. */
export function showEvent(row: EventRow, payload: Uint8Array | null, link: Uint8Array | null): StoredEvent {
  const kind = row[6]
  return {
    seq: row[0],
    at: row[1],
    epoch: row[2],
    type: eventTypeCode.wordIfKnown(row[3]),
    position: row[4],
    turn: row[5],
    kind: kind === null ? null : operationKindCode.wordIfKnown(kind),
    nth: row[7],
    failed: row[8] === 1,
    tookMs: row[9],
    name: row[10],
    payload,
    link,
  }
}

/** A run after it was claimed. The counts of its tests apply to suspects only. */
export interface ClaimedRow extends Omit<Claimed, 'mark'> {
  readonly mark: number
}

/** Converts the row of a claimed run. */
export function showClaimed(row: ClaimedRow): Claimed {
  // One literal: V8 gives spread properties a slow representation.
  return {
    run: row.run,
    id: row.id,
    procedure: row.procedure,
    version: row.version,
    epoch: row.epoch,
    head: row.head,
    base: row.base,
    mail: row.mail,
    tries: row.tries,
    positives: isSuspect(row) ? row.positives : 0,
    alone: isSuspect(row) ? row.alone : 0,
    mark: markCode.wordIfKnown(row.mark),
    link: row.link,
  }
}

/** An entry of the feed. */
export interface FeedRow {
  readonly n: number
  readonly at: number
  readonly kind: number
  readonly run: RunKey
  readonly position: number | null
  readonly id: string
}

/** Converts the row of an entry of the feed. */
export function showFeedEntry({ n, at, kind, run, position, id }: FeedRow): FeedEntry {
  return { n, at, kind: feedCode.wordIfKnown(kind), run: id, runKey: run, position }
}

/** A run that may have ended. */
export interface EndedRow {
  readonly run: RunKey
  readonly id: string
  readonly procedure: string
  readonly state: number
  readonly base: number
  readonly endedAt: number | null
  /** The id of the run that created it. */
  readonly parent: string | null
}

/** Converts the rows of at most `span` runs, the newest first. Passes over hidden and damaged runs. */
export function showEndedPage(rows: readonly EndedRow[], span: number): EndedPage {
  const isLive = ({ state }: EndedRow): boolean => state === stateCode.numberOf.live
  return {
    runs: rows.flatMap(({ run, id, procedure, state, endedAt, parent }) => {
      const word = state === hiddenState ? 'live' : stateCode.wordIfKnown(state)
      return typeof word === 'number' || word === 'live' || endedAt === null
        ? []
        : { run, id, procedure, state: word, endedAt, parent }
    }),
    continued: rows
      .filter((row) => isLive(row) && row.base > 0)
      .map(({ run, procedure }) => ({ run, procedure })),
    next: rows.length < span ? null : (rows.at(-1)?.run ?? null),
  }
}
