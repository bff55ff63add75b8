import { checkName } from '../authoring/options.ts'
import { PawlError } from '../errors/pawl-error.ts'
import type { RunRow } from '../ports/store.ts'
import type { Connection } from './connection.ts'

/** @throws PawlError 'run-not-found' */
export async function findRun(connection: Connection, id: string): Promise<RunRow> {
  const row = await (await connection.begin()).find(checkName('id of a run', id))
  if (row === null) throw new PawlError('run-not-found', { run: id })
  return row
}
