import { isBuiltIn, isReservedId, reservedIds } from '../base/built-in.ts'
import { canonical } from '../base/canonical.ts'
import { isEqual } from '../base/equal.ts'
import type { Sha256 } from '../base/hash.ts'
import { issuesOf, oneIssue } from '../base/issues.ts'
import { showValue } from '../base/text.ts'
import { whenKnown } from '../base/when-known.ts'
import { PawlError } from '../errors/pawl-error.ts'
import { decode, encode, encodeRecord } from '../events/payload.ts'
import type { ParentPayload, RunTimeout, StartedPayload, TraceContext } from '../events/payloads.ts'
import { sameBytes } from '../events/seal.ts'
import type { Entropy } from '../ports/entropy.ts'
import type { Schema, Validation } from '../schemas/schema.ts'
import { composeRun, type UnhashedRun } from './new-run.ts'

// Checks the input of a new run and composes the run. A client and a run that starts a child do the same.

/** The ports of a start. */
export interface StartPorts {
  readonly entropy: Pick<Entropy, 'bytes'>
  readonly sha256: Sha256
  /** Validates with the author's schema, whose code may leave rejections behind. */
  validate(schema: Schema, value: unknown): Validation | Promise<Validation>
}

/** The code of a procedure, as a start needs it. */
export interface StartCode {
  readonly name: string
  readonly version: number
  readonly input?: Schema | undefined
}

/** A start, as its caller wants it. */
export interface StartRequest {
  readonly id: string
  readonly procedure: string
  /** Undefined if the caller does not have the code: then the first claim checks the input. */
  readonly code: StartCode | undefined
  readonly input: unknown
  /** Whether another start may have the same id, and is then to be recognised as the same or not. */
  readonly isRepeatable: boolean
  readonly by: string | null
  readonly tags: readonly string[]
  /** When the run cancels itself. Default: never. */
  readonly timeout?: RunTimeout | null
  /** The run that creates it, if one does. */
  readonly parent?: ParentPayload
  /** The trace that it belongs to. Default: none. */
  readonly trace?: TraceContext | undefined
}

/** The input as the caller passed it, decoded on demand; null if it cannot be recorded or is not needed. */
type Given = { readonly value: () => unknown } | null

export interface ComposedStart {
  readonly run: UnhashedRun
  readonly given: Given
}

/**
 * Checks the input and composes the run. Reads the input synchronously if its schema allows, so that later changes have no
 * effect. @throws PawlError 'input-invalid', 'payload-refused'
 */
export function composeStart(
  ports: StartPorts,
  request: StartRequest,
): ComposedStart | Promise<ComposedStart> {
  if (request.isRepeatable) checkGivenId(request.id, request.procedure)
  const given = request.isRepeatable ? keepGiven(request.input) : null
  return whenKnown(checkInput(ports, request), (checked) => {
    if (!checked.ok) throw new PawlError('input-invalid', issuesOf(checked))
    return { run: compose(ports, request, given, checked.value), given }
  })
}

/**
 * Refuses an id by which runs of Pawl itself are found: a run of another procedure would stand for them.
 * @throws PawlError 'option-invalid'
 */
export function checkGivenId(id: string, procedure: string): void {
  if (!isReservedId(id) || isBuiltIn(procedure)) return
  const given = showValue(id)
  throw new PawlError(
    'option-invalid',
    { option: 'id of run', given },
    {
      what: `The option id of run cannot be ${given}.`,
      remedy: `Ids that begin with ${reservedIds.join(', ')} belong to runs of Pawl itself. Choose another one.`,
    },
  )
}

/** Whether a recorded start has the same input. */
export function isSameInput(
  sha256: Sha256,
  recorded: StartedPayload,
  { run, given }: { readonly run: Pick<UnhashedRun, 'started'>; readonly given: Given },
): boolean {
  const sought = decode(run.started.payload) as StartedPayload
  const original = recorded.generation?.given
  if (original === undefined && recorded.checked && isEqual(recorded.input, sought.input)) return true
  // The schema may have changed, or only one of the two starts had it.
  if (given === null) return false
  if (original !== undefined) return sameBytes(original, hashGiven(sha256, given.value()))
  if (recorded.given === undefined) return isEqual(recorded.input, given.value())
  return sameBytes(recorded.given, hashGiven(sha256, given.value()))
}

/** The hash of the input with which a caller has started a run, from the first event of any of its generations. */
export function hashOfGiven(sha256: Sha256, { generation, given, input }: StartedPayload): Uint8Array {
  return generation?.given ?? given ?? hashGiven(sha256, input)
}

function compose(
  { entropy, sha256 }: StartPorts,
  { id, procedure, code, by, tags, timeout = null, parent, trace }: StartRequest,
  given: Given,
  checked: unknown,
): UnhashedRun {
  const isOther = code?.input !== undefined && given !== null && !isEqual(given.value(), checked)
  return composeRun({
    id,
    procedure,
    version: code?.version ?? null,
    isChecked: code !== undefined,
    input: checked,
    given: isOther ? hashGiven(sha256, given.value()) : null,
    seed: entropy.bytes(16),
    by,
    tags,
    timeout,
    parent,
    trace,
  })
}

/** Checks an input with the schema of the procedure, if the caller has it. */
export function checkInput(
  ports: Pick<StartPorts, 'validate'>,
  { code, input }: Pick<StartRequest, 'code' | 'input'>,
): Validation | Promise<Validation> {
  if (code?.input !== undefined) return ports.validate(code.input, input)
  if (code === undefined || input === undefined) return { ok: true, value: input }
  const message = `procedure '${code.name}' takes no input: pass undefined instead, and options such as id after it`
  return { ok: false, ...oneIssue('', message) }
}

function keepGiven(input: unknown): Given {
  try {
    const bytes = encode(input, 'input')
    return { value: () => decode(bytes) }
  } catch (error) {
    if (!PawlError.is(error, 'payload-refused')) throw error
    return null
  }
}

function hashGiven(sha256: Sha256, given: unknown): Uint8Array {
  return sha256(encodeRecord([canonical(given)], 'input'))
}
