import type { Severity } from '../../base/words.ts'
import type { RunKey } from './runs.ts'

/** Stores notices to people. A notice is an effect of a unit of its run, and is kept as long as the run. */
export interface NoticeStore {
  /** Lists notices, the newest first. */
  list(query: NoticeQuery): Promise<readonly NoticeRow[]>
  /** Marks notices as read by a person. Returns how many were unread before. */
  markRead(numbers: readonly number[], reader: string): Promise<number>
}

/** The kinds of notices. Stores keep the place in this list: append to it. */
export const noticeKinds = ['notice', 'failed-undo'] as const

/** `failed-undo`: the engine reports an undo that failed or did not run. */
export type NoticeKind = (typeof noticeKinds)[number]

/**
 * A notice to be written. A run has one of each position and digest: one that is written again changes nothing, so that a run that
 * is retried says nothing twice.
 */
export interface NewNotice {
  readonly position: number
  /** Of the payload: 32 bits, signed. */
  readonly digest: number
  readonly kind: NoticeKind
  readonly severity: Severity
  /** Empty: everyone. */
  readonly to: readonly string[]
  readonly payload: Uint8Array
}

/** A notice of a copied run. Read marks are not copied: they belong to the people of one store. */
export interface KeptNotice extends NewNotice {
  readonly at: number
  /** The number of events that the log had when it was written. */
  readonly seq: number
}

/** A notice as stored. A number represents a word that this version does not know, and null a malformed list. */
export interface NoticeRow extends Omit<KeptNotice, 'kind' | 'severity' | 'to'> {
  /** Increasing in the order of writing, with gaps; never used again. */
  readonly n: number
  /** The id of the run. */
  readonly run: string
  readonly runKey: RunKey
  readonly procedure: string
  readonly startedBy: string | null
  readonly kind: NoticeKind | number
  readonly severity: Severity | number
  readonly to: readonly string[] | null
  /** Whether the reader of the query has read it. */
  readonly isRead: boolean
}

/** Selects a page of notices; null means any. */
export interface NoticeQuery {
  readonly n: number | null
  readonly run: RunKey | null
  /** Only those addressed to one of these names. `everyone` of ports/store/asks stands for an empty audience. */
  readonly to: readonly string[] | null
  readonly reader: string | null
  /** Whether only notices unread by the reader. */
  readonly unread: boolean
  /** Only those with a smaller number, where the previous page ended. */
  readonly before: number | null
  readonly limit: number
}
