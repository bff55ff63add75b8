import type { Damaged } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { isRefusedByRow } from '../faults.ts'

/** Writes one item of a batch. If the rows of its run refuse it, the item is undone and the transaction continues. */
export type Isolate = <Outcome>(write: () => Outcome) => Outcome | Damaged

export function prepareIsolate(database: Database): Isolate {
  const begin = database.prepare('savepoint item')
  const undo = database.prepare('rollback to item')
  const end = database.prepare('release item')
  return (write) => {
    begin.run()
    try {
      const outcome = write()
      end.run()
      return outcome
    } catch (error) {
      // The whole transaction is rolled back.
      if (!isRefusedByRow(error)) throw error
      undo.run()
      end.run()
      return { outcome: 'damaged', why: `the file rejects its message: ${(error as Error).message}` }
    }
  }
}
