import { checkName } from '../../checks/options.ts'
import { encode } from '../../events/payload.ts'
import type { CheckpointOperation } from '../operations.ts'
import { readCheckpoint } from '../results.ts'

/** Builds the operation of `ctx.checkpoint`. @throws PawlError 'option-invalid', 'payload-refused' */
export function checkpoint(
  name: unknown,
  state: unknown,
): CheckpointOperation & { readonly read: typeof readCheckpoint } {
  const checked = checkName('name of checkpoint', name)
  return {
    kind: 'checkpoint',
    name: checked,
    state: encode(state, `checkpoint ${checked}`),
    read: readCheckpoint,
  }
}
