import { canExecute } from '../ports/abilities.ts'
import type { Claimed, ClaimStore } from '../ports/store/claims.ts'
import type { ProcedureVersions, WorkerKey } from '../ports/store/workers.ts'

/** How long a cancelled run that no live worker can execute stays due before any worker ends it. */
const cancelAfterMs = 30_000
const maxAtOnce = 100

/** Claims cancelled runs that no live worker can execute, to be ended without their code. */
export async function claimCancelled(
  store: { readonly claims: Pick<ClaimStore, 'cancelled' | 'takeCancelled'> },
  abilities: readonly ProcedureVersions[],
  worker: WorkerKey,
): Promise<readonly Claimed[]> {
  const cancelled = await store.claims.cancelled(cancelAfterMs, maxAtOnce)
  const runs = cancelled.filter(({ procedure, version }) => !canExecute(abilities, procedure, version))
  return runs.length === 0
    ? []
    : store.claims.takeCancelled(
        worker,
        runs.map(({ run }) => run),
      )
}
