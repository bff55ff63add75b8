import {
  clipText,
  encodeRecord,
  type Pending,
  type ProcedureOperation,
  recordFailure,
} from '@pawl/core/internal'
import type { ConsentChange } from '../consent.ts'
import type { ExploredDoubles } from '../doubles.ts'
import type { ExploreSettings } from '../options.ts'

/** One of the ways in which an operation may end. */
export interface Outcome {
  /** What happened, for the report. */
  readonly label: string
  readonly failed: boolean
  readonly payload: Uint8Array | null
  /** When it happens if nothing else does, in ms since 1970; undefined: at any time. */
  readonly dueAt?: number
  /** The payload of the cancel that comes with it. */
  readonly cancel?: Uint8Array
  readonly consent?: ConsentChange
}

/** What outcomes are made of. */
export interface Surroundings {
  readonly settings: ExploreSettings
  readonly doubles: ExploredDoubles
  /** The time, in ms since 1970. */
  readonly now: number
}

/** Lists the outcomes of a pending operation. Empty: it never ends. */
export type ListOutcomes<O extends ProcedureOperation> = (
  pending: Pending<O>,
  around: Surroundings,
) => readonly Outcome[] | Promise<readonly Outcome[]>

/** An outcome with a recorded result. */
export function done(label: string, record: object): Outcome {
  return { label, failed: false, payload: encodeRecord(record, 'result') }
}

/** An outcome with an error. */
export function failing(label: string, error: unknown): Outcome {
  return { label, failed: true, payload: encodeRecord(recordFailure(error), 'failure') }
}

/** Shortens a text or a value for a label. */
export function brief(value: unknown, maxLength = 60): string {
  return clipText((typeof value === 'string' ? value : JSON.stringify(value)) ?? 'undefined', maxLength)
}
