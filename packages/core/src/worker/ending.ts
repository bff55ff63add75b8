import { type FailureRecord, recordFailure } from '../errors/failure.ts'
import { noPosition } from '../events/event.ts'
import { encode, encodeRecord } from '../events/payload.ts'
import type { RunInfo } from '../events/payloads.ts'
import type { Pending } from '../kernel/operation.ts'
import type { WrittenEvent } from './log-end.ts'

/** How a run ends, once what it leaves behind is settled. */
export interface Ending {
  readonly failure: FailureRecord | null
  readonly payload: Uint8Array | null
  /** Operations that were pending when the procedure ended. */
  readonly left: readonly Pending[]
}

export function completeWith(output: unknown, left: readonly Pending[]): Ending {
  try {
    return { failure: null, payload: encode(output, 'output'), left }
  } catch (error) {
    return failWith(error, left)
  }
}

export function failWith(error: unknown, left: readonly Pending[]): Ending {
  const failure = recordFailure(error)
  return { failure, payload: encodeRecord(failure, 'failure'), left }
}

export function endedEvent({ failure, payload }: Ending): WrittenEvent {
  return {
    type: 'ended',
    position: noPosition,
    turn: 0,
    kind: null,
    name: '',
    nth: 0,
    failed: failure !== null,
    tookMs: null,
    payload,
    seq: -1,
    at: 0,
    epoch: 0,
    link: null,
  }
}

/** So many of each are told; a list of more is nothing anybody reads, and what is told must stay small. */
export const mostTold = 1_000

/** What people are told of the ended run. */
export function describeEnding(
  { failure, left }: Ending,
  signals: readonly string[],
  unhandled: readonly unknown[],
): RunInfo {
  const leftOver = {
    signals: signals.slice(0, mostTold),
    operations: left
      .slice(0, mostTold)
      .map(({ position, operation }) => ({ position, name: operation.name })),
    unhandled: unhandled.slice(0, mostTold).map((reason) => recordFailure(reason).message.slice(0, mostTold)),
  }
  const isNothing = signals.length + left.length + unhandled.length === 0
  return { waiting: [], ...(failure === null ? {} : { failure }), ...(isNothing ? {} : { leftOver }) }
}
