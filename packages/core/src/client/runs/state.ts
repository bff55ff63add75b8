import { checkState } from '../../authoring/exposed/exposed.ts'
import type { ProcedureDefinition } from '../../authoring/procedure.ts'
import { topics } from '../../base/notifier.ts'
import { checkName } from '../../checks/options.ts'
import { milliseconds, optional, readOptions, type Spec } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode } from '../../events/payload.ts'
import { understand } from '../../ports/rows.ts'
import type { StateRow } from '../../ports/store/states.ts'
import type { Connection } from '../connection.ts'
import { findRun } from '../find-run.ts'
import type { StateOptions } from '../types.ts'
import { explainUnread } from '../unread.ts'

/** A value that a run exposes. */
export interface StateView {
  readonly name: string
  /** When it was last stored. */
  readonly at: Date
  readonly value: unknown
}

const stateOptions = { wait: optional(milliseconds) } satisfies Spec<StateOptions>

/**
 * Returns the last stored value that a run exposes; undefined if there is none. With `wait`: as soon as there is one.
 * @throws PawlError 'run-not-found', 'option-invalid', 'wait-timed-out', 'run-ended' (while waiting), 'run-quarantined'
 */
export async function readState(
  connection: Connection,
  run: string,
  definition: ProcedureDefinition | undefined,
  given: unknown,
  options: unknown,
): Promise<unknown> {
  const name =
    definition === undefined ? checkName('name of state', given) : checkState(definition, 'state', given)
  const { wait: timeoutMs } = readOptions('of state', options, stateOptions)
  if (timeoutMs === undefined) return (await listStates(connection, run, name))[0]?.value
  const look = async (): Promise<StateView | undefined> => {
    const { state } = await findRun(connection, run)
    const [found] = await listStates(connection, run, name)
    if (found === undefined && state !== 'live') throw new PawlError('run-ended', { run, status: state })
    return found
  }
  return (await connection.wait(topics.talkOf(run), look, timeoutMs)).value
}

/** Returns the values that a run exposes, sorted by name: all, or the one with this name. */
export async function listStates(
  connection: Connection,
  id: string,
  name: string | null,
): Promise<readonly StateView[]> {
  const { run } = await findRun(connection, id)
  const rows = await (await connection.store()).states.list(run, name)
  return rows.map((row) => showState(id, row))
}

function showState(run: string, { name, at, payload }: StateRow): StateView {
  try {
    return understand(() => ({ name, at: new Date(at), value: decode(payload) }))
  } catch (error) {
    throw explainUnread(run, `The state "${name}" of run ${run}`, error)
  }
}
