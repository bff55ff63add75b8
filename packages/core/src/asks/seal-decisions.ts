import type { Sha256 } from '../base/hash.ts'
import type { DecisionRow, RemovalStore } from '../ports/store/removals.ts'
import type { RunKey } from '../ports/store/runs.ts'
import { digestDecision } from './decision-digest.ts'

const pageSize = 100
/** Beyond the position of every ask. */
const lastPosition = 2 ** 31 - 1

/** Seals the decisions of a removed run. A crash before leaves them without a seal, as those of earlier versions are. */
export async function sealDecisions(
  removals: Pick<RemovalStore, 'decisions' | 'sealDecisions'>,
  sha256: Sha256,
  { run, id }: { readonly run: RunKey; readonly id: string },
): Promise<void> {
  let before: { readonly run: RunKey; readonly position: number } | null = {
    run,
    position: lastPosition,
  }
  while (before !== null) {
    const rows: readonly DecisionRow[] = await removals.decisions({
      ...{ run: id, procedure: null, before, limit: pageSize },
    })
    const own = rows.filter(({ runKey, digest }) => runKey === run && digest === null)
    const seals = own.map((row) => ({ run, position: row.position, digest: digestDecision(sha256, row) }))
    if (seals.length > 0) await removals.sealDecisions(seals)
    const last = rows.at(-1)
    before = rows.length < pageSize || last?.runKey !== run ? null : { run, position: last.position }
  }
}
