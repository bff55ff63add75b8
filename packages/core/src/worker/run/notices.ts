import { digestOf } from '../../base/digest.ts'
import { showFailure } from '../../errors/catalogue.ts'
import { failureOf } from '../../errors/failure.ts'
import { noPosition } from '../../events/event.ts'
import { encodeRecord } from '../../events/payload.ts'
import type { NoticePayload, RollbackRecord } from '../../events/payloads.ts'
import type { Effect } from '../../ports/store/log.ts'
import type { RunState } from './state.ts'

// What a run tells people by itself: undos that failed, and undos that did not run.

/** Tells of the undos that have failed since the last unit. Told once: a store keeps one of each. */
export function tellOfFailedUndos(state: RunState): readonly Effect[] {
  if (state.services.store.notices === undefined) return none
  const { failed } = state.continuation.rollback
  const told = state.toldUndos
  if (failed.length === told) return none
  state.tellingUndos = failed.length
  return failed
    .slice(told)
    .map(({ name, failure }) =>
      notice(state, `The undo of "${name}" failed: ${showFailure(failureOf(failure))}`),
    )
}

/** Tells of the undos that an ended run skips. */
export function tellOfSkippedUndos(state: RunState, rollback: RollbackRecord | null): readonly Effect[] {
  return state.services.store.notices === undefined || rollback?.skipped === undefined
    ? none
    : [notice(state, rollback.skipped)]
}

const none: readonly Effect[] = []

function notice({ continuation }: RunState, what: string): Effect {
  const { owner } = continuation.start.definition
  const to = owner === undefined ? [] : [owner]
  const message = `${what}. What it should have undone is still there.`
  const content: NoticePayload = {
    ...{ message, to, severity: 'critical' },
    generation: continuation.generation.number,
  }
  const payload = encodeRecord(content, 'notice')
  return {
    do: 'notify',
    notice: {
      ...{ position: noPosition, digest: digestOf(payload), kind: 'failed-undo', severity: 'critical' },
      ...{ to, payload },
    },
  }
}
