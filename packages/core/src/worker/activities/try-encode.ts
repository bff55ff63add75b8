import { oneIssue } from '../../base/issues.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { encodeRecord } from '../../events/payload.ts'
import type { Validation } from '../../schemas/schema.ts'

/** Encodes the output of a schema, which may not be storable. */
export function tryEncode(record: object, label: string): Validation<Uint8Array> {
  try {
    return { ok: true, value: encodeRecord(record, label) }
  } catch (error) {
    if (!PawlError.is(error, 'payload-refused')) throw error
    return { ok: false, ...oneIssue('', `${error.details.path} cannot be recorded`) }
  }
}
