import type { Unit, UnitOutcome, WholeStore, WorkerKey } from '@pawl/core/storage'
import { UnknownOutcome } from '../connection/connection.ts'
import { Conflict } from '../writes/commit.ts'
import type { StoreParts } from './parts.ts'

export function createLog(parts: StoreParts): WholeStore['log'] {
  return {
    commit: (worker, units) => commit(parts, worker, units),
    load: (run, seq, limit) => parts.connection.read(({ readLog }) => readLog(run, seq, limit)),
  }
}

async function commit(
  { connection, transactions }: StoreParts,
  worker: WorkerKey,
  units: readonly Unit[],
): Promise<readonly UnitOutcome[]> {
  const conflicts = new Set<number>()
  for (;;) {
    try {
      return await connection.write((statements, at) => statements.commit(worker, units, conflicts, at))
    } catch (error) {
      // These runs must not proceed until it is known whether the commit was stored.
      if (error instanceof UnknownOutcome)
        return transactions.untilDone(({ reclaim }, at, raises) =>
          units.map((unit) => reclaim(worker, unit, raises, at)),
        )
      // Conflicts are rare, so the other units are simply written again.
      if (!(error instanceof Conflict)) throw error
      conflicts.add(error.index)
    }
  }
}
