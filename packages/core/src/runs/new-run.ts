import type { Sha256 } from '../base/hash.ts'
import { type LogEvent, type NewEvent, noPosition } from '../events/event.ts'
import { encodeAround } from '../events/payload.ts'
import type {
  ForkFamily,
  ForkOrigin,
  GenerationPayload,
  ParentPayload,
  RunTimeout,
  StartedPayload,
  TraceContext,
} from '../events/payloads.ts'
import { LogHash } from '../events/seal.ts'
import { acceptsFirst, logFormat, timesOut } from '../kernel/flags.ts'
import type { NewRun } from '../ports/store/runs.ts'
import type { WorkerKey } from '../ports/store/workers.ts'

// Creates runs. Pure: the caller validates the input, and draws the id and the seed.

export interface Birth {
  readonly id: string
  readonly procedure: string
  /** Null if the starter does not have the code: fixed at the first claim. */
  readonly version: number | null
  /** Whether the starter has the code, so that the input was validated. */
  readonly isChecked: boolean
  /** The input, as the schema returned it if it was validated. */
  readonly input: unknown
  /** The hash of the input as given, if the schema transformed it. */
  readonly given: Uint8Array | null
  /** 16 bytes of entropy. */
  readonly seed: Uint8Array
  readonly by: string | null
  readonly tags: readonly string[]
  /** When the run cancels itself. Default: never. */
  readonly timeout?: RunTimeout | null
  readonly parent?: ParentPayload | undefined
  /** Missing for the first generation of a run. */
  readonly generation?: GenerationPayload
  readonly trace?: TraceContext | undefined
  /** Set in the later generations of a fork. */
  readonly forkedFrom?: ForkOrigin | undefined
  /** Set in the later generations of a run of a fork's family that a caller has begun again. */
  readonly family?: ForkFamily | undefined
}

/** A run whose first event is not hashed yet: hashing runs in slices, outside the caller's call. */
export type UnhashedRun = Omit<NewRun, 'link' | 'worker'>

/** Composes the run and its first event. @throws PawlError 'payload-refused' */
export function composeRun({ procedure, isChecked, input, given, ...birth }: Birth): UnhashedRun {
  const { id, version, seed, by, tags, timeout = null, parent, generation, trace, forkedFrom, family } = birth
  const payload: StartedPayload = {
    format: logFormat,
    flags: [...(isChecked ? [] : [acceptsFirst]), ...(timeout === null ? [] : [timesOut])],
    id,
    version,
    input,
    checked: isChecked,
    ...(given === null ? {} : { given }),
    seed,
    by,
    tags,
    ...(timeout === null ? {} : { timeout }),
    ...(parent === undefined ? {} : { parent }),
    ...(generation === undefined ? {} : { generation }),
    ...(trace === undefined ? {} : { trace }),
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
    ...(family === undefined ? {} : { family }),
  }
  const started: NewEvent = {
    type: 'started',
    position: noPosition,
    turn: 0,
    kind: null,
    name: procedure,
    nth: 0,
    failed: false,
    tookMs: null,
    payload: encodeAround(payload, input, 'input'),
  }
  return { id, procedure, version, started, tags, startedBy: by }
}

/** Hashes the first event. `worker` will execute the run; null: any worker. One literal, since this runs for every run. */
export function hashRun(
  sha256: Sha256,
  { id, procedure, version, started, tags, startedBy }: UnhashedRun,
  worker: WorkerKey | null,
): NewRun {
  const hash = new LogHash(sha256)
  hash.add(started)
  return { id, procedure, version, started, link: hash.link(), worker, tags, startedBy }
}

/** Returns the first event as stored. One literal: V8 gives every spread copy its own shape. */
export function firstOfLog(started: NewEvent, at: number): LogEvent {
  const { type, position, turn, kind, name, nth, failed, tookMs, payload } = started
  return { type, position, turn, kind, name, nth, failed, tookMs, payload, seq: 0, at, epoch: 1, link: null }
}
