import type { ProcedureOperation } from '../../authoring/operations.ts'
import type { RollbackProgress } from '../../authoring/rollback/rollback.ts'
import { issuesOf } from '../../base/issues.ts'
import { explain, showFailure } from '../../errors/catalogue.ts'
import { type FailureRecord, failureOf, recordFailure } from '../../errors/failure.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { LogEvent, WrittenEvent } from '../../events/event.ts'
import { decode, encode, encodeRecord } from '../../events/payload.ts'
import type { CancelNote, RollbackRecord, RunInfo } from '../../events/payloads.ts'
import { findThrowSite } from '../../host/call-site.ts'
import { validate } from '../../host/run-schema.ts'
import type { Completed } from '../../kernel/decision.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { EndState } from '../../ports/store/runs.ts'
import { runEvent } from '../../runs/run-event.ts'
import type { Schema } from '../../schemas/schema.ts'
import { activityKinds } from '../activities/registry.ts'
import type { RunReport } from '../run-reports.ts'

/** The end of a run, once pending operations are settled. */
export interface Ending {
  readonly state: EndState
  readonly failure: FailureRecord | null
  readonly payload: Uint8Array | null
  /** Operations that were pending when the procedure ended. */
  readonly left: readonly Pending<ProcedureOperation>[]
  /** Set if the run does not end, but continues with an empty log. Its input was checked. */
  readonly next?: { readonly input: unknown }
  /** Why registered undos do not run. Default: an exception escaped the procedure. */
  readonly skips?: string
}

export function completeWith(output: unknown, left: readonly Pending<ProcedureOperation>[]): Ending {
  try {
    return { state: 'completed', failure: null, payload: encode(output, 'output'), left }
  } catch (error) {
    return failReturned(error, left)
  }
}

/** Fails a run whose procedure has returned: its work is done, so nothing is undone. */
export function failReturned(error: unknown, left: readonly Pending<ProcedureOperation>[]): Ending {
  return { ...failWith(error, left), skips: 'the procedure had returned, and only its output is invalid' }
}

/** Ends a run with its output, or as failed if the schema refuses the output. */
export async function completeChecked(
  schema: Schema,
  { output, left }: Completed<ProcedureOperation>,
): Promise<Ending> {
  const checked = await validate(schema, output)
  if (checked.ok) return completeWith(checked.value, left)
  return failReturned(new PawlError('output-invalid', issuesOf(checked)), left)
}

export function failWith(
  error: unknown,
  left: readonly Pending<ProcedureOperation>[],
): Ending & { readonly failure: FailureRecord } {
  const failure = recordFailure(error)
  return { state: 'failed', failure, payload: encodeRecord(failure, 'failure'), left }
}

export function endedEvent({ failure, payload }: Ending): WrittenEvent {
  return runEvent('ended', payload, failure !== null)
}

/** Maximum number of unused items of each kind to show: longer lists are not useful, and the data must stay small. */
export const maxShown = 100

/** What had become of a run before it ended. */
export interface Past {
  readonly rollback: RollbackRecord | null
  readonly cancelled: CancelNote | null
}

/** Describes the ended run for lists. */
export function describeEnding(
  { state, failure, left }: Ending,
  signals: readonly string[],
  { rollback, cancelled }: Past,
): RunInfo {
  const leftOver = {
    signals: signals.slice(0, maxShown),
    operations: left
      .slice(0, maxShown)
      .map(({ position, operation }) => ({ position, name: operation.name })),
  }
  const isNothing = signals.length + left.length === 0
  return {
    waiting: [],
    ...(failure === null || state === 'cancelled' ? {} : { failure }),
    ...(rollback === null ? {} : { rollback: clipped(rollback) }),
    ...(isNothing ? {} : { leftOver }),
    ...(cancelled === null ? {} : { cancelled }),
  }
}

function clipped(rollback: RollbackRecord): RollbackRecord {
  const { reason, undone, failed, skipped } = rollback
  return {
    ...{ reason, undone: undone.slice(0, maxShown), failed: failed.slice(0, maxShown) },
    ...(skipped === undefined ? {} : { skipped }),
  }
}

/**
 * Describes what an ending run has undone, and what it skips; null if there is nothing to tell. `late`: the steps with an undo
 * whose results were recorded after the procedure had ended.
 */
export function rollbackOf(
  { failure, skips }: Ending,
  { left: registered, bare: _, ...done }: RollbackProgress,
  late: readonly string[],
): RollbackRecord | null {
  const left = [...registered, ...late]
  if (failure === null || left.length === 0) return done.reason === undefined ? null : done
  const shown = left.slice(0, 5).join(', ') + (left.length > 5 ? ', …' : '')
  const what =
    left.length === 1 ? `1 undo did not run (${shown})` : `${left.length} undos did not run (${shown})`
  return {
    ...done,
    reason: done.reason ?? showFailure(failureOf(failure)),
    skipped: `${what}: ${skips ?? 'an exception escaped the procedure'}`,
  }
}

/**
 * Creates the report of a failed run. The message of a PawlError contains its own remedy. `position` is the failed
 * operation's; it is kept only if the error has no location. `isRolledBack`: undos have run, so that a retry is refused.
 */
export function reportFailure(
  run: string,
  procedure: string,
  record: FailureRecord,
  {
    position = null,
    isRolledBack = false,
  }: { readonly position?: number | null; readonly isRolledBack?: boolean } = {},
): RunReport {
  const cause = failureOf(record)
  const at = findThrowSite(record)
  const isOurs = record.details !== undefined
  return {
    ...{ run, procedure, outcome: 'failed', code: cause.code ?? 'run-failed', at },
    ...(at === undefined && position !== null ? { position } : {}),
    cause: isOurs ? cause.message : showFailure(cause),
    remedy: explain('run-failed', { run, cause, ...(isRolledBack ? { rolledBack: true } : {}) }).remedy,
  }
}

/** Creates the report of an undo that has failed. `isAsked`: the owner of the procedure decides what becomes of it. */
export function reportUndo(
  run: string,
  procedure: string,
  { name, position, payload }: Pick<LogEvent, 'name' | 'position' | 'payload'>,
  isAsked: boolean,
): RunReport {
  const record = decode(payload) as FailureRecord
  const cause = failureOf(record)
  return {
    ...{ run, procedure, outcome: 'has a failed undo', code: cause.code ?? 'step-failed', position },
    ...{ undo: name, at: findThrowSite(record), cause: cause.message },
    remedy: isAsked
      ? 'The owner of the procedure is asked.'
      : "`client.list({ rollback: 'failed' })` and `pawl ls --rollback failed` list such runs.",
  }
}

/** Whether an operation has external effects, so that it is reported if it never starts. */
export function isAct({ operation }: Pending): boolean {
  return activityKinds[operation.kind].acts
}

/**
 * Names the operations with effects that were issued after turn `begun` and never started: they were not awaited. A timer
 * or a signal may have lost a race. Null if there are none.
 */
export function describeUnbegun(left: readonly Pending<ProcedureOperation>[], begun: number): string | null {
  const unbegun = left.filter((pending) => isAct(pending) && pending.turn > begun)
  if (unbegun.length === 0) return null
  const named = unbegun.slice(0, 5).map(({ operation: { kind, name } }) => `${kind} "${name}"`)
  return (
    named.join(', ') + (unbegun.length > named.length ? ` and ${unbegun.length - named.length} more` : '')
  )
}
