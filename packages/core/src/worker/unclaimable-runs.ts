import { canExecute } from '../ports/abilities.ts'
import type { Logger } from '../ports/logger.ts'
import type { Backlog } from '../ports/store/claims.ts'
import type { StorePort } from '../ports/store/store.ts'

/** Logs the due runs that no live engine can execute, with a warning for each procedure and version. */
export async function reportUnclaimable(
  store: Pick<StorePort, 'backlog' | 'abilities'>,
  logger: Logger,
): Promise<void> {
  const backlog = await store.backlog()
  if (backlog.length === 0) return
  // Read after the backlog, so that an engine that registers in between counts.
  const abilities = await store.abilities()
  if (abilities === null) return
  for (const kind of backlog) {
    const { procedure, version, oldest: run, count } = kind
    if (!canExecute(abilities, procedure, version))
      logger.warn(describe(kind), { run, procedure, version, count })
  }
}

function describe({ procedure, version, oldest, count }: Backlog): string {
  const others = count > 1 ? ` and ${count - 1} ${count > 2 ? 'others' : 'other'}` : ''
  const code = `${version === null ? '' : `version ${version} of `}procedure "${procedure}"`
  return `Run "${oldest}"${others} ${count > 1 ? 'are' : 'is'} due, and no live engine has ${code}. Start an engine with it`
}
