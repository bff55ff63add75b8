import type { Sha256 } from '../../base/hash.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { chooseVersion } from '../../ports/abilities.ts'
import type { RunRow } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { CheckedRun, RunCheck } from '../../runs/run-check.ts'
import type { Procedures } from '../procedures.ts'
import { LogReader } from '../run/log-reader.ts'
import { quarantinedFor } from '../run/park-with-error.ts'
import type { LogSource } from '../run/replay-log.ts'
import type { ProgramServices } from '../services.ts'
import { checkLog, type LogVerdict } from './check-log.ts'
import { findRowDamage } from './row-damage.ts'

/** A run to be checked, and its log. */
export interface Checkable {
  readonly run: string
  readonly procedure: string
  readonly version: number | null
  readonly log: LogSource
  /** Returns what is damaged beside the log; null if nothing is. Missing for a run that is in no store. */
  readonly findDamage?: () => Promise<string | null>
}

/** Returns a stored run. */
export function checkableOf(
  store: Pick<StorePort, 'log' | 'checkpoints'>,
  sha256: Sha256,
  row: RunRow,
): Checkable {
  const { id, procedure, version, run, head, base, link } = row
  const log: LogSource = {
    head,
    pages: () => new LogReader(store, sha256, run, { head, base, link }).pages(),
  }
  return { run: id, procedure, version, log, findDamage: () => findRowDamage(store, row, log) }
}

/** Replays runs with the code of an engine, several at a time: while one is read, another one is replayed. */
export async function checkRuns(
  services: ProgramServices,
  procedures: Procedures,
  runs: readonly Checkable[],
): Promise<readonly RunCheck[]> {
  const checks: RunCheck[] = []
  let next = 0
  const checkNext = async (): Promise<void> => {
    for (let index = next++; index < runs.length; index = next++)
      checks[index] = await checkOne(services, procedures, runs[index] as Checkable)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, runs.length) }, checkNext))
  return checks
}

const atOnce = 16

async function checkOne(
  services: ProgramServices,
  procedures: Procedures,
  { run, procedure, version, log, findDamage }: Checkable,
): Promise<RunCheck> {
  const chosen = chooseVersion(procedures.versions, procedure, version)
  const definition = chosen === undefined ? undefined : procedures.find(procedure, chosen)
  const named = { run, procedure, version: version ?? 0 }
  if (definition === undefined) return { ...named, versions: {}, verdict: 'no-code' }
  const { verdict, versions } = await checkLog(services, { id: run, definition, log })
  const damage = typeof verdict === 'string' ? ((await findDamage?.()) ?? null) : null
  return showVerdict({ ...named, versions }, damage === null ? verdict : quarantinedFor(run, damage))
}

function showVerdict(checked: CheckedRun, verdict: LogVerdict['verdict']): RunCheck {
  if (typeof verdict === 'string') return { ...checked, verdict }
  const { error, why, at = '' } = verdict
  if (!PawlError.is(error, 'nondeterminism'))
    return { ...checked, verdict: 'broken', code: error.code, message: why, at }
  const { position, recorded, asked } = error.details
  return { ...checked, verdict: 'diverges', position, recorded, asked, at }
}
