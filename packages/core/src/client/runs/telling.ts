import type { StorePort } from '../../ports/store/store.ts'
import type { WorkerRow } from '../../ports/store/workers.ts'
import { type ProcedureInput, readInputs } from '../../runs/procedure-inputs.ts'

/** A live worker, and what it tells of its procedures. */
export interface Telling extends Pick<WorkerRow, 'procedures'> {
  readonly inputs: readonly ProcedureInput[]
}

/** Reads what the live workers tell of their procedures. */
export async function readTelling(store: StorePort): Promise<readonly Telling[]> {
  const rows = await store.workers.list()
  return rows.map(({ procedures, inputs }) => ({ procedures, inputs: readInputs(inputs) }))
}
