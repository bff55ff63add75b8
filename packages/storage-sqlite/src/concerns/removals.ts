import type { WholeStore } from '@pawl/core/storage'
import type { StoreParts } from './parts.ts'

export function createRemovals({ connection }: StoreParts): WholeStore['removals'] {
  return {
    remove: (runs) => connection.write(({ removals }) => runs.map((run) => removals.remove(run))),
    removeQuarantined: (removal) =>
      connection.write(({ removals }, at) => removals.removeQuarantined(removal, at)),
    clear: (limit) => connection.write(({ removals }, at) => removals.clear(limit, at)),
    dropGeneration: (run, before, limit) =>
      connection.write(({ removals }) => removals.dropGeneration(run, before, limit)),
    ended: (before, span) => connection.read(({ removals }) => removals.ended(before, span)),
    decisions: (query) => connection.read(({ removals }) => removals.decisions(query)),
    sealDecisions: (seals) => connection.write(({ removals }) => removals.sealDecisions(seals)),
    forgetDecisions: (procedure, before, limit) =>
      connection.write(({ removals }) => removals.forgetDecisions(procedure, before, limit)),
    decidedProcedures: () => connection.read(({ removals }) => removals.decidedProcedures()),
  }
}
