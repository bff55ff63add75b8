import type { WholeStore } from '@pawl/core/storage'
import type { MemoryConnection } from '../connection.ts'
import { readLog } from '../reads/log.ts'
import { commitUnit } from '../writes/commit.ts'

export function createLog(connection: MemoryConnection): WholeStore['log'] {
  const { tables } = connection
  return {
    commit: (worker, units) =>
      connection.write((now) => units.map((unit) => commitUnit(tables, worker, unit, now))),
    load: (run, seq, limit) => connection.read(() => readLog(tables, run, seq, limit)),
  }
}
