import type { AskStatus } from '../../base/words.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { KeptCheckpoint } from '../../ports/store/checkpoints.ts'
import type { KeptAsk, KeptMessage } from '../../ports/store/copies.ts'
import type { KeptNotice } from '../../ports/store/notices.ts'
import type { RunParent, RunState } from '../../ports/store/runs.ts'
import type { StateRow } from '../../ports/store/states.ts'

// An exported run is a file: `magic`, then frames. A frame is
//   4 bytes   the length of its body, big-endian
//   1 byte    its kind, a number of `frameNumbers`
//   32 bytes  its digest: SHA-256 of the digest before it, these five bytes, and the body
//   the body, a payload of events/codec
// So damage anywhere in the file shows at the frame that has it, before anything of the frame is used. The frames come in the
// order of `frameKinds`, the first and the last kind once, the others as often as needed. Runs with equal rows have equal files.
// A version that does not know a kind refuses the file as written later. So a new kind needs no new format: it is written only
// for runs that have such rows.

export const magic: Uint8Array = new TextEncoder().encode('pawl run')

/** Raised when an older version could no longer read a file. */
export const exportFormat = 1

/** The kinds of frames, in their order. */
export const frameKinds = [
  'header',
  'events',
  'messages',
  'asks',
  'states',
  'checkpoints',
  'notices',
  'end',
] as const
export type FrameKind = (typeof frameKinds)[number]

/** The numbers of the kinds in the file, which never change: a new kind has the next one, wherever it comes. */
export const frameNumbers: { readonly [Kind in FrameKind]: number } = {
  ...{ header: 0, events: 1, messages: 2, asks: 3, states: 4, end: 5 },
  checkpoints: 6,
  notices: 7,
}

export const frameHead: number = 4 + 1 + 32

/** The size of the rows from which on a frame is complete, in bytes. */
export const frameBytes: number = 256 * 1024
/** Maximum size of the body of a frame, in bytes: a row may have two payloads. */
export const maxFrameBytes: number = 16 * 1024 * 1024

/** The body of the first frame. */
export interface ExportHeader {
  readonly format: number
  readonly id: string
  readonly procedure: string
  readonly version: number | null
  readonly state: RunState
  /** The seq of the first event: more than 0 if the generations before were dropped. */
  readonly first: number
  readonly base: number
  readonly head: number
  readonly link: Uint8Array
  readonly createdAt: number
  readonly endedAt: number | null
  readonly cancelAt: number | null
  readonly tags: readonly string[]
  readonly startedBy: string | null
  readonly parent: RunParent | null
  readonly info: Uint8Array | null
}

/** An event; its seq follows from its place. */
export type EventTuple = readonly [
  at: number,
  epoch: number,
  type: string,
  position: number,
  turn: number,
  kind: string | null,
  name: string,
  nth: number,
  failed: boolean,
  tookMs: number | null,
  payload: Uint8Array | null,
  link: Uint8Array | null,
]

/** The rows of a run beside its log. */
export interface ExportRows {
  readonly messages: readonly (Omit<KeptMessage, 'by'> & Partial<Pick<KeptMessage, 'by'>>)[]
  readonly asks: readonly (KeptAsk & { readonly status: AskStatus })[]
  readonly states: readonly StateRow[]
  readonly checkpoints: readonly KeptCheckpoint[]
  readonly notices: readonly KeptNotice[]
}

export function invalidExport(reason: string, cause?: unknown): PawlError<'export-invalid'> {
  return new PawlError('export-invalid', { reason }, cause === undefined ? {} : { cause })
}
