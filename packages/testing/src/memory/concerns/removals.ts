import type { WholeStore } from '@pawl/core/storage'
import type { MemoryConnection } from '../connection.ts'
import {
  clear,
  dropGeneration,
  forgetDecisions,
  listDecisions,
  listEnded,
  removeQuarantined,
  removeRun,
  sealDecisions,
} from '../writes/remove.ts'

export function createRemovals(connection: MemoryConnection): WholeStore['removals'] {
  const { tables } = connection
  return {
    remove: (runs) => connection.write(() => runs.map((run) => removeRun(tables, run))),
    removeQuarantined: (removal) => connection.write((at) => removeQuarantined(tables, removal, at)),
    clear: () => connection.read((now) => clear(tables, now)),
    dropGeneration: (run, before, limit) => connection.read(() => dropGeneration(tables, run, before, limit)),
    ended: (before, span) => connection.read(() => listEnded(tables, before, span)),
    decisions: (query) => connection.read(() => listDecisions(tables, query)),
    sealDecisions: (seals) => connection.read(() => sealDecisions(tables, seals)),
    forgetDecisions: (procedure, before, limit) =>
      connection.read(() => forgetDecisions(tables, procedure, before, limit)),
    decidedProcedures: () =>
      connection.read(() => [...new Set(tables.decisions.map(({ procedure }) => procedure))]),
  }
}
