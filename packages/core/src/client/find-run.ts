import { checkName } from '../checks/options.ts'
import { PawlError } from '../errors/pawl-error.ts'
import { type KnownRun, readRun } from '../ports/rows.ts'
import type { RunRow } from '../ports/store/runs.ts'
import type { Connection } from './connection.ts'
import { explainUnread } from './unread.ts'

/** Returns a run as stored, even if its row is damaged. @throws PawlError 'run-not-found' */
export async function findRow(connection: Connection, id: string): Promise<RunRow> {
  const row = await (await connection.begin()).runs.find(checkName('id of a run', id))
  if (row === null) throw new PawlError('run-not-found', { run: id })
  return row
}

/** Returns a run whose row is valid. @throws PawlError 'run-not-found', 'run-quarantined' */
export async function findRun(connection: Connection, id: string): Promise<KnownRun> {
  return knownRun(await findRow(connection, id))
}

/** Validates the row of a run. @throws PawlError 'run-quarantined' */
export function knownRun(row: RunRow): KnownRun {
  try {
    return readRun(row)
  } catch (error) {
    throw explainUnread(row.id, `Run ${row.id}`, error)
  }
}
