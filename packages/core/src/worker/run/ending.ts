import type { ProcedureOperation } from '../../authoring/operations.ts'
import { explain, showFailure } from '../../errors/catalogue.ts'
import { type FailureRecord, failureOf, recordFailure } from '../../errors/failure.ts'
import type { WrittenEvent } from '../../events/event.ts'
import { encode, encodeRecord } from '../../events/payload.ts'
import type { RollbackRecord, RunInfo } from '../../events/payloads.ts'
import { findThrowSite } from '../../host/call-site.ts'
import type { Pending } from '../../kernel/operation.ts'
import { runEvent } from '../../runs/run-event.ts'
import { activityKinds } from '../activities/registry.ts'
import type { RunReport } from '../run-reports.ts'

/** How a run ends, once what it leaves behind is settled. */
export interface Ending {
  readonly failure: FailureRecord | null
  readonly payload: Uint8Array | null
  /** Operations that were pending when the procedure ended. */
  readonly left: readonly Pending<ProcedureOperation>[]
}

export function completeWith(output: unknown, left: readonly Pending<ProcedureOperation>[]): Ending {
  try {
    return { failure: null, payload: encode(output, 'output'), left }
  } catch (error) {
    return failWith(error, left)
  }
}

export function failWith(
  error: unknown,
  left: readonly Pending<ProcedureOperation>[],
): Ending & { readonly failure: FailureRecord } {
  const failure = recordFailure(error)
  return { failure, payload: encodeRecord(failure, 'failure'), left }
}

export function endedEvent({ failure, payload }: Ending): WrittenEvent {
  return runEvent('ended', payload, failure !== null)
}

/** So many of each are told; a list of more is nothing anybody reads, and what is told must stay small. */
export const maxShown = 100

/** What people are told of the ended run. */
export function describeEnding(
  { failure, left }: Ending,
  signals: readonly string[],
  rollback: RollbackRecord | null,
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
    ...(failure === null ? {} : { failure }),
    ...(rollback === null ? {} : { rollback: clipped(rollback) }),
    ...(isNothing ? {} : { leftOver }),
  }
}

function clipped({ reason, undone, failed }: RollbackRecord): RollbackRecord {
  return { reason, undone: undone.slice(0, maxShown), failed: failed.slice(0, maxShown) }
}

/**
 * What is logged of a run that has failed. The message of a PawlError says by itself what to do. `position`: of the
 * operation whose failure it is; kept only if the error itself does not say where it was thrown.
 */
export function reportFailure(
  run: string,
  procedure: string,
  record: FailureRecord,
  position: number | null = null,
): RunReport {
  const cause = failureOf(record)
  const at = findThrowSite(record)
  const isOurs = record.details !== undefined
  return {
    ...{ run, procedure, outcome: 'failed', code: cause.code ?? 'run-failed', at },
    ...(at === undefined && position !== null ? { position } : {}),
    cause: isOurs ? cause.message : showFailure(cause),
    remedy: explain('run-failed', { run, cause }).remedy,
  }
}

/** It does something, so that it is missed if it never begins, and is kept if it did. */
export function isAct({ operation }: Pending): boolean {
  return activityKinds[operation.kind].acts
}

/**
 * Of what was left the operations that were issued after turn `begun`, the last whose operations were begun: nobody
 * waited for them. A timer or a signal may have lost a race. Null if there is none.
 */
export function describeUnbegun(left: readonly Pending<ProcedureOperation>[], begun: number): string | null {
  const unbegun = left.filter((pending) => isAct(pending) && pending.turn > begun)
  if (unbegun.length === 0) return null
  const named = unbegun.slice(0, 5).map(({ operation: { kind, name } }) => `${kind} "${name}"`)
  return (
    named.join(', ') + (unbegun.length > named.length ? ` and ${unbegun.length - named.length} more` : '')
  )
}
