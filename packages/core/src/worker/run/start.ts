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

/** The input as bytes of their own; undefined: it is in the payload of the first event. */
type InputBytes = Uint8Array | null | undefined

/** The data from which a run, and every replay of it, starts. */
export class Start {
  readonly definition: ProcedureDefinition
  /** The seed of random(), uuid() and the keys of steps. */
  readonly seed: Uint8Array
  /** Where its log comes from, if it begins with events of another run. */
  readonly fork: ForkPayload | undefined
  /** The generation that begins. */
  readonly generation: Generation
  /** The seq of its first event that no retry has kept of the generation before; 0 if none was kept. */
  readonly keptUntil: number
  /** The number of runs above it. */
  readonly depth: number
  /** Who started it. */
  readonly by: Actor | undefined
  /** The event to record first: the validated input. */
  readonly accepted: WrittenEvent | null
  /** When the run cancels itself, by the store's clock; null: never. */
  readonly timeoutAt: number | null
  readonly #started: LogEvent
  readonly #input: InputBytes

  constructor(
    definition: ProcedureDefinition,
    started: LogEvent,
    payload: StartedPayload,
    input: InputBytes,
    accepted: WrittenEvent | null,
  ) {
    this.definition = definition
    const { seed, fork, by, parent, timeout } = payload
    this.seed = seed
    this.fork = fork
    this.generation = generationIn(payload, started)
    const { kept } = this.generation
    this.keptUntil = kept === undefined ? 0 : started.seq + 1 + kept
    this.depth = parent?.depth ?? 0
    this.by = (by ?? undefined) as Actor | undefined
    this.accepted = accepted
    this.timeoutAt = timeout === undefined ? null : dueAt(timeout, started.at)
    this.#started = started
    this.#input = input
  }

  /** Returns the payload of the first event as a new value. */
  payload(): StartedPayload {
    return readStarted(this.#started)
  }

  /** Returns the input for the procedure as a new value. */
  input(): unknown {
    return this.#input === undefined ? this.payload().input : decode(this.#input)
  }
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
  const { format, flags, checked, input } = payload
  if (format !== logFormat || flags.some((flag) => !kernelFlags.includes(flag)))
    throw new WrittenLater('its log')
  const startWith = (bytes?: InputBytes, accepted: WrittenEvent | null = null): Start =>
    new Start(definition, started, payload, bytes, accepted)
  if (second?.type === 'accepted') {
    // Decoded before the procedure runs: an unreadable input is not a failure of the procedure.
    decode(second.payload)
    return startWith(second.payload)
  }
  const hasBegun = second !== undefined && flags.includes(acceptsFirst)
  if (checked || hasBegun || definition.input === undefined) return startWith()
  const validation = await validate(definition.input, input)
  if (!validation.ok) return issuesOf(validation)
  try {
    const bytes = encode(validation.value, 'input')
    return startWith(bytes, second === undefined ? runEvent('accepted', bytes) : null)
  } catch (error) {
    if (!PawlError.is(error, 'payload-refused')) throw error
    return oneIssue('', `the output of the schema cannot be recorded: ${error.message}`)
  }
}
