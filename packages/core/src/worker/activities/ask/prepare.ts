import { closesAtOf, recipientsOf, urgencyOf } from '../../../asks/ask.ts'
import { type AskSpec, dueAt } from '../../../authoring/operations.ts'
import { type Issues, issuesIn } from '../../../base/issues.ts'
import { showValue } from '../../../base/text.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import { encode } from '../../../events/payload.ts'
import type { AskPayload, Silence } from '../../../events/payloads.ts'
import { runChecks } from '../../../host/run-schema.ts'
import type { NewAsk } from '../../../ports/store/asks.ts'
import type { Validation } from '../../../schemas/schema.ts'
import type { StepResult } from '../activity.ts'
import { showHistory } from './history.ts'

// Builds the stored ask from the code's ask. Pure, except for the author's schema.

/** Validates the default answer like an answer of a person, and replaces it with the schema's output. */
export function checkSilence({
  payload,
  check,
}: AskSpec): Validation<Silence> | Promise<Validation<Silence>> {
  const { silence } = payload
  if (silence.do !== 'default' || payload.kind !== 'input' || check === undefined)
    return { ok: true, value: silence }
  const conclude = (checked: Validation): Validation<Silence> =>
    checked.ok ? { ok: true, value: { ...silence, value: checked.value } } : checked
  const checked = runChecks(() => check(silence.value))
  return checked instanceof Promise ? checked.then(conclude) : conclude(checked)
}

/** Creates the error for an invalid default. */
export function invalidDefault({ payload: { silence } }: AskSpec, refused: Issues): PawlError {
  const [{ path, message } = { path: '', message: 'it is invalid' }] = issuesIn('default', refused).issues
  return new PawlError(
    'option-invalid',
    {
      option: `onTimeout.${path} of input`,
      given: showValue('value' in silence ? silence.value : undefined),
    },
    {
      what: `The option onTimeout.${path} of input does not match the schema: ${message}.`,
      next: 'No ask was opened.',
      remedy: 'The default must be a valid answer.',
    },
  )
}

/** Returns the error if the default, after validation, cannot be stored; null if it can. */
export function findUnstorable(silence: Silence): unknown {
  if (silence.do !== 'default') return null
  try {
    encode(silence.value, 'onTimeout.default of input')
    return null
  } catch (error) {
    if (!PawlError.is(error, 'payload-refused')) throw error
    return error
  }
}

/** An ask that says who may answer it. */
export type ComposedAsk = AskPayload & Required<Pick<AskPayload, 'to'>>

/** What an ask is composed of, besides what the code says. */
export interface AskParts {
  /** What happens on timeout, as the author's schema made it. */
  readonly silence: Silence
  readonly history: readonly StepResult[]
  /** The default audience of `onTimeout: 'escalate'`. */
  readonly escalateTo: string | undefined
  readonly starters: readonly string[]
  readonly now: number
}

/** Composes the stored ask. Its timeout starts at `now`: time lost before that does not count. */
export function composeAsk(
  spec: AskSpec,
  { silence, history, escalateTo: engine, starters, now }: AskParts,
): ComposedAsk {
  const due = spec.due === null ? null : dueAt(spec.due, now)
  const steps = showHistory(history, spec.payload)
  const { to, escalateTo } = recipientsOf(spec.to, { silence }, engine)
  return {
    ...spec.payload,
    ...{ silence, to },
    ...(escalateTo.length === 0 ? {} : { escalateTo }),
    ...(starters.length === 0 ? {} : { starters }),
    ...(due === null ? {} : { dueAt: due }),
    ...(steps.length === 0 ? {} : { history: steps }),
  }
}

/** The columns of an ask's row besides its payload. */
export interface RowParts {
  readonly position: number
  readonly spec: AskSpec
  /** The encoded ask. */
  readonly payload: Uint8Array
  readonly answered: NewAsk['answered']
}

export function composeRow(ask: ComposedAsk, { position, spec, payload, answered }: RowParts): NewAsk {
  return {
    position,
    kind: ask.kind,
    key: spec.key,
    urgency: urgencyOf(ask),
    to: ask.to,
    escalateTo: ask.escalateTo ?? [],
    dueAt: ask.dueAt ?? null,
    closesAt: closesAtOf(ask),
    payload,
    answered,
  }
}
