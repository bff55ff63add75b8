import type { Sha256 } from './base/hash.ts'
import { checkObject } from './checks/options.ts'
import type { EngineSettings } from './client/options.ts'
import { listChecked } from './client/runs/query.ts'
import { ownEffects } from './ports/effects.ts'
import type { Logger } from './ports/logger.ts'
import type { StorePort } from './ports/store/store.ts'
import type { RunCheck } from './runs/run-check.ts'
import { checkableOf, checkRuns } from './worker/check/check-runs.ts'
import { checkDecisions } from './worker/check/decision-damage.ts'
import { readExported } from './worker/check/exported.ts'
import { Procedures } from './worker/procedures.ts'
import { Remarks } from './worker/remarks.ts'

/** Replays stored runs with the code of an engine. */
export type Checker = (what?: unknown) => Promise<readonly RunCheck[]>

export interface CheckerOptions {
  readonly settings: EngineSettings
  readonly logger: Logger
  readonly sha256: Sha256
  /** An open store. */
  readonly store: StorePort
}

/** Which decisions of deleted runs a filter covers; null: none, since it selects by what they do not have. */
function readWide(filter: {
  readonly [option: string]: unknown
}): { readonly procedure: string | null; readonly most: number } | null {
  const { procedure = null, limit = Number.POSITIVE_INFINITY, ...others } = filter
  if (Object.values(others).some((value) => value !== undefined)) return null
  return { procedure: procedure as string | null, most: limit as number }
}

/** Creates the `check` of an engine. */
export function createChecker({ settings, logger, sha256, store }: CheckerOptions): Checker {
  const procedures = new Procedures(settings.procedures)
  const { determinism, bugs, decider, escalateTo, policy } = settings
  const services = {
    ...{ determinism, bugs, decider, escalateTo, policy, logger },
    effects: ownEffects,
    remarks: new Remarks(logger),
  }
  return async (what) => {
    const filter = checkObject('filter of check', what)
    const runs =
      filter['exports'] === undefined
        ? (await listChecked(store, filter)).map((row) => checkableOf(store, sha256, row))
        : await readExported(sha256, filter)
    const checks = await checkRuns(services, procedures, runs)
    const wide = readWide(filter)
    return wide === null ? checks : [...checks, ...(await checkDecisions(store, sha256, wide))]
  }
}
