import { canExecute } from '../ports/abilities.ts'
import type { Claimed } from '../ports/store/claims.ts'
import type { StorePort } from '../ports/store/store.ts'
import type { ProcedureVersions, WorkerKey } from '../ports/store/workers.ts'

/** How long a cancelled run that no live worker can execute stays due before any worker ends it. */
const cancelAfterMs = 30_000
const maxAtOnce = 100

/** Claims cancelled runs that no live worker can execute, to be ended without their code. */
export async function claimCancelled(
  store: Pick<StorePort, 'cancelled' | 'takeCancelled'>,
  abilities: readonly ProcedureVersions[],
  worker: WorkerKey,
): Promise<readonly Claimed[]> {
  const cancelled = await store.cancelled(cancelAfterMs, maxAtOnce)
  const runs = cancelled.filter(({ procedure, version }) => !canExecute(abilities, procedure, version))
  return runs.length === 0
    ? []
    : store.takeCancelled(
        worker,
        runs.map(({ run }) => run),
      )
}
