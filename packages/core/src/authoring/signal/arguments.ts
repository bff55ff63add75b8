import { isEqual } from '../../base/equal.ts'
import { issuesOf } from '../../base/issues.ts'
import { whenKnown } from '../../base/when-known.ts'
import { checkName } from '../../checks/options.ts'
import { checkActor } from '../../checks/people.ts'
import { optional, readOptions, type Spec } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { encode } from '../../events/payload.ts'
import type { Schema, Validation } from '../../schemas/schema.ts'
import type { SignalOptions } from '../message-options.ts'

/** Validates with the author's schema, whose code may leave rejections behind. */
type Validate = (schema: Schema, value: unknown) => Validation | Promise<Validation>

/** What a signal brings. `key`: its idempotency key. `by`: who sends it. */
export interface SignalContent {
  readonly key: string | null
  readonly by: string | null
  readonly payload: Uint8Array | null
}

const signalOptions = {
  id: optional(checkName),
  by: optional(checkActor, null),
} satisfies Spec<SignalOptions>

/** Encodes a signal synchronously if its schema does, so that later changes by the caller have no effect. `rest`: the arguments after its name. */
export function readSignalArgs(
  schema: Schema | undefined,
  rest: readonly unknown[],
  validate: Validate,
): SignalContent | Promise<SignalContent> {
  const isBare = schema !== undefined && rest.length <= 1 && isForOptions(schema, rest[0], validate)
  return whenKnown(isBare, (isWithout) => {
    const [payload, given] = isWithout ? [undefined, rest[0]] : rest
    const { id, by } = readOptions('of signal', given, signalOptions)
    const key = id === undefined ? null : `signal:${id}`
    return whenKnown(encodeChecked(schema, payload, validate), (encoded) => ({ key, by, payload: encoded }))
  })
}

/**
 * Encodes the payload as the schema returned it.
 * The receiver validates it again, and a transforming schema may reject or change its own output: then the payload is
 * encoded as given.
 */
export function encodeChecked(
  schema: Schema | undefined,
  given: unknown,
  validate: Validate,
): Uint8Array | null | Promise<Uint8Array | null> {
  if (schema === undefined) return encode(given, 'payload')
  return whenKnown(validate(schema, given), (checked) => {
    if (!checked.ok) throw new PawlError('payload-invalid', issuesOf(checked))
    const { value } = checked
    return whenKnown(validate(schema, value), (again) =>
      encode(again.ok && isEqual(again.value, value) ? value : given, 'payload'),
    )
  })
}

/** Returns whether a value cannot be the payload. It may then be the options of a signal without one. */
function isForOptions(schema: Schema, given: unknown, validate: Validate): boolean | Promise<boolean> {
  if (given === undefined) return true
  const mayBe =
    typeof given === 'object' &&
    given !== null &&
    Object.keys(given).every((key) => Object.hasOwn(signalOptions, key))
  if (!mayBe) return false
  return whenKnown(
    validate(schema, given),
    ({ ok }) => !ok && whenKnown(validate(schema, undefined), (without) => without.ok),
  )
}
