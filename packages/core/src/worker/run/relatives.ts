import type { FailureRecord } from '../../errors/failure.ts'
import { reasonOfEnd } from '../../events/children.ts'
import type { LogEvent } from '../../events/event.ts'
import { decode, encodeRecord } from '../../events/payload.ts'
import type {
  CancelledPayload,
  CreatedPayload,
  EndedPayload,
  ParentPayload,
  WatchPayload,
} from '../../events/payloads.ts'
import { cancelKey } from '../../ports/codes.ts'
import type { Effect } from '../../ports/store/log.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { EndState } from '../../ports/store/runs.ts'
import { topicOf } from '../../runs/topics.ts'
import { consume } from '../activities/activity.ts'
import type { Ending } from './ending.ts'

// What the end of a run, or of one of its scopes, says to other runs. A run that cannot get it is passed over.

/** The topic of the messages of the operations that wait for the end of a run. */
export const watchTopic: string = topicOf('watch', '')

/** Cancels a child of a run that ends. */
export function cancelAtEnd(child: string, run: string): Effect {
  return cancelChild(child, reasonOfEnd(run))
}

function cancelChild(id: string, reason: string): Effect {
  const payload: CancelledPayload = { reason }
  return {
    do: 'send',
    message: {
      ...{ run: id, kind: 'cancel', name: '', key: cancelKey, by: null, must: false },
      payload: encodeRecord(payload, 'reason'),
    },
  }
}

/**
 * Cancels the child of an operation whose scope was closed. `records`: its events in the log. `retried`: the child that it had
 * before the run was retried.
 */
export function cancelClosed(
  run: string,
  records: readonly LogEvent[],
  retried: string | undefined,
): readonly Effect[] {
  const created = records.find(({ type }) => type === 'created')
  const child = created === undefined ? undefined : (decode(created.payload) as CreatedPayload)
  const id = child?.id ?? retried
  return id === undefined || child?.detached === true
    ? []
    : [cancelChild(id, `run ${run} no longer waits for it`)]
}

/** Tells the parent, and the runs that wait for the end. `watches`: their messages. */
export function tellOfEnd(
  run: string,
  ending: Pick<Ending, 'state' | 'payload' | 'failure'>,
  parent: ParentPayload | null,
  watches: readonly Message[],
  reason: string | undefined,
): readonly Effect[] {
  if (watches.length === 0 && parent?.isCalled !== true) return none
  const waiting = watches.map(({ payload }) => decode(payload) as WatchPayload)
  if (parent?.isCalled === true) waiting.unshift(parent)
  const payload = encodeRecord(describeEnd(run, ending, reason), 'end')
  return [
    ...watches.map(({ n }) => consume(n)),
    ...waiting.map(
      (to): Effect => ({
        do: 'send',
        message: {
          ...{
            run: to.run,
            kind: 'ended',
            name: String(to.position),
            key: null,
            by: null,
            payload,
            must: false,
          },
        },
      }),
    ),
  ]
}

const none: readonly Effect[] = []

function describeEnd(
  run: string,
  { state, payload, failure }: Pick<Ending, 'state' | 'payload' | 'failure'>,
  reason: string | undefined,
): EndedPayload {
  if (state === 'cancelled') return { run, state, ...(reason === undefined ? {} : { reason }) }
  if (state === 'failed') return { run, state, failure: failure as FailureRecord }
  return { run, state, output: payload }
}

/** How a run has ended, from the last event of its log. */
export function endedPayload(run: string, state: EndState, { payload }: LogEvent): EndedPayload {
  if (state === 'completed') return { run, state, output: payload }
  const failure = decode(payload) as FailureRecord
  if (state === 'failed') return { run, state, failure }
  const { reason } = (failure.details ?? {}) as { readonly reason?: string }
  return { run, state, reason }
}
