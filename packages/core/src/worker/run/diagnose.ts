import { isBug } from '../../errors/bug.ts'
import { failureOf, recordFailure } from '../../errors/failure.ts'
import { findThrowSite } from '../../host/call-site.ts'
import type { ForeignAwait, Nondeterminism } from '../../kernel/decision.ts'
import type { Claimed } from '../../ports/store/claims.ts'
import type { Unit } from '../../ports/store/log.ts'
import type { ProgramServices } from '../services.ts'
import { findCallSite, type Replayed } from './find-call-site.ts'
import { brokenBy, divergedBy, foreignAwait, quarantinedFor, type Reason } from './park-with-error.ts'

/** A thrown error, and the position of the operation in which it was found, if it did not leave the procedure. */
export interface Bug {
  readonly error: unknown
  readonly position: number | null
}

/** Explains why a run is stuck, with the location in the author's code. */
export async function diagnoseBug(
  services: ProgramServices,
  run: Replayed,
  { error, position }: Bug,
): Promise<Reason> {
  const thrownAt = findThrowSite(error) ?? ''
  const at = position === null ? thrownAt : await findCallSite(services, run, position)
  return brokenBy(run.id, error, at)
}

/** Like {@link diagnoseBug}, with the location of the last operation before the foreign await. */
export async function diagnoseForeignAwait(
  services: ProgramServices,
  run: Replayed,
  { after, position, what }: ForeignAwait,
): Promise<Reason> {
  const at = await findCallSite(services, run, position)
  return foreignAwait({ run: run.id, after, what }, at)
}

/** Like {@link diagnoseBug}. If the code failed where the log continues, its error is more useful than a location. */
export async function diagnoseDifference(
  services: ProgramServices,
  run: Replayed,
  { position, recorded, asked, thrown }: Nondeterminism,
  parksBugs: boolean,
): Promise<Reason> {
  if (thrown === undefined) {
    const at = await findCallSite(services, run, position)
    return divergedBy(run.id, { position, recorded, asked, at })
  }
  const { error } = thrown
  const at = findThrowSite(error) ?? ''
  if (parksBugs && isBug(error)) return brokenBy(run.id, error, at)
  const { name, message } = failureOf(recordFailure(error))
  const failed = `${asked} with ${name}: ${message}`
  return divergedBy(run.id, { position, recorded, asked: failed, at }, { cause: error })
}

/** Explains a quarantine because workers died while the run was tested alone. */
export function diagnoseCrashes({ id, alone, tries }: Claimed): Reason {
  const why = `its workers died ${alone} times while it was the only suspect running, and ${tries} times in a row without a new event`
  return quarantinedFor(id, why, 'crashes')
}

/** Explains a quarantine because the store rejected a unit that does not continue its log. */
export function diagnoseConflict(run: string, { head }: Unit, why: string | undefined): Reason {
  return quarantinedFor(
    run,
    why ??
      `event ${head} does not follow the events in the store, which lost acknowledged events or has an unknown one`,
  )
}
