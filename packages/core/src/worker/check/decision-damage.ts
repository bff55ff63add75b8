import { decisionDamage, isAsSealed } from '../../asks/decision-digest.ts'
import type { Sha256 } from '../../base/hash.ts'
import type { DecisionQuery, DecisionRow } from '../../ports/store/removals.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { RunCheck } from '../../runs/run-check.ts'

const pageSize = 500

/** Checks the decisions of deleted runs, the newest first, and reports the damaged ones. */
export async function checkDecisions(
  { removals }: Pick<StorePort, 'removals'>,
  sha256: Sha256,
  { procedure, most }: { readonly procedure: string | null; readonly most: number },
): Promise<readonly RunCheck[]> {
  const found: RunCheck[] = []
  if (removals === undefined) return found
  let before: DecisionQuery['before'] = null
  for (let seen = 0; seen < most; ) {
    const limit = Math.min(pageSize, most - seen)
    const rows: readonly DecisionRow[] = await removals.decisions({ run: null, procedure, before, limit })
    for (const row of rows) if (!isAsSealed(sha256, row)) found.push(reportDamaged(row))
    const last = rows.at(-1)
    if (last === undefined || rows.length < limit) break
    before = { run: last.runKey, position: last.position }
    seen += rows.length
  }
  return found
}

function reportDamaged({ run, procedure, position }: DecisionRow): RunCheck {
  return {
    ...{ run, procedure, version: 0, versions: {}, verdict: 'broken', code: 'run-quarantined', at: '' },
    message: `the run was deleted, and its decision at position ${position} is damaged: ${decisionDamage}`,
  }
}
