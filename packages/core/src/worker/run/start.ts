import { dueAt } from '../../authoring/operations.ts'
import type { ProcedureDefinition } from '../../authoring/procedure.ts'
import { type Issues, issuesOf, oneIssue } from '../../base/issues.ts'
import type { Actor } from '../../base/people.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { WrittenLater } from '../../events/codec.ts'
import type { LogEvent, WrittenEvent } from '../../events/event.ts'
import { type Generation, generationIn } from '../../events/generation.ts'
import { decode, encode } from '../../events/payload.ts'
import type { ForkPayload, StartedPayload } from '../../events/payloads.ts'
import { readStarted } from '../../events/read-started.ts'
import { validate } from '../../host/run-schema.ts'
import { acceptsFirst, kernelFlags, logFormat } from '../../kernel/flags.ts'
import { runEvent } from '../../runs/run-event.ts'

/** The data from which a run, and every replay of it, starts. */
export interface Start {
  readonly definition: ProcedureDefinition
  /** The seed of random(), uuid() and the keys of steps. */
  readonly seed: Uint8Array
  /** Where its log comes from, if it begins with events of another run. */
  readonly fork: ForkPayload | undefined
  /** The generation that begins. */
  readonly generation: Generation
  /** Returns the payload of the first event as a new value. */
  readonly payload: () => StartedPayload
  /** The number of runs above it. */
  readonly depth: number
  /** Who started it. */
  readonly by: Actor | undefined
  /** Returns the input for the procedure as a new value. */
  readonly input: () => unknown
  /** The event to record first: the validated input. */
  readonly accepted: WrittenEvent | null
  /** When the run cancels itself, by the store's clock; null: never. */
  readonly timeoutAt: number | null
}

/**
 * Reads the first event, and from the second the validated input if the sender could not validate it. If that event is
 * missing, because the run is new or began before it was recorded, the input is validated here.
 * @throws PayloadCorrupt, WrittenLater
 */
export async function readStart(
  definition: ProcedureDefinition,
  started: LogEvent,
  second: LogEvent | undefined,
  payload: StartedPayload = readStarted(started),
): Promise<Start | Issues> {
  const { format, flags, seed, checked, input, timeout } = payload
  const timeoutAt = timeout === undefined ? null : dueAt(timeout, started.at)
  if (format !== logFormat || flags.some((flag) => !kernelFlags.includes(flag)))
    throw new WrittenLater('its log')
  const depth = payload.parent?.depth ?? 0
  const generation = generationIn(payload, started)
  const by = (payload.by ?? undefined) as Actor | undefined
  const again = (): StartedPayload => readStarted(started)
  const { fork } = payload
  const known = { definition, seed, generation, fork, depth, by, timeoutAt, payload: again }
  if (second?.type === 'accepted') {
    // Decoded before the procedure runs: an unreadable input is not a failure of the procedure.
    decode(second.payload)
    return { ...known, input: () => decode(second.payload), accepted: null }
  }
  const hasBegun = second !== undefined && flags.includes(acceptsFirst)
  if (checked || hasBegun || definition.input === undefined) {
    return { ...known, input: () => again().input, accepted: null }
  }
  const validation = await validate(definition.input, input)
  if (!validation.ok) return issuesOf(validation)
  try {
    const bytes = encode(validation.value, 'input')
    const accepted = second === undefined ? runEvent('accepted', bytes) : null
    return { ...known, input: () => decode(bytes), accepted }
  } catch (error) {
    if (!PawlError.is(error, 'payload-refused')) throw error
    return oneIssue('', `the output of the schema cannot be recorded: ${error.message}`)
  }
}
