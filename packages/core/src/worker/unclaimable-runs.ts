import { canExecute } from '../ports/abilities.ts'
import type { Logger } from '../ports/logger.ts'
import type { Backlog } from '../ports/store/claims.ts'
import type { StorePort } from '../ports/store/store.ts'
import type { ProcedureVersions } from '../ports/store/workers.ts'

/**
 * Logs the due runs that no live engine can execute, with a warning for each procedure and version. Returns what the live
 * engines can execute if there are such runs.
 */
export async function reportUnclaimable(
  store: Pick<StorePort, 'workers' | 'claims'>,
  logger: Logger,
): Promise<readonly ProcedureVersions[] | null> {
  const backlog = await store.claims.backlog()
  if (backlog.length === 0) return null
  // Read after the backlog, so that an engine that registers in between counts.
  const abilities = await store.workers.abilities()
  if (abilities === null) return null
  const unclaimable = backlog.filter(({ procedure, version }) => !canExecute(abilities, procedure, version))
  for (const kind of unclaimable) {
    const { procedure, version, oldest: run, count } = kind
    logger.warn(describe(kind), { run, procedure, version, count })
  }
  return unclaimable.length === 0 ? null : abilities
}

function describe({ procedure, version, oldest, count }: Backlog): string {
  const others = count > 1 ? ` and ${count - 1} ${count > 2 ? 'others' : 'other'}` : ''
  const code = `${version === null ? '' : `version ${version} of `}procedure "${procedure}"`
  return `Run "${oldest}"${others} ${count > 1 ? 'are' : 'is'} due, and no live engine has ${code}. Start an engine with it`
}
