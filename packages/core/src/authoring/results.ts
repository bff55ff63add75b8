import type { Actor } from '../base/people.ts'
import { type FailureRecord, reviveFailure } from '../errors/failure.ts'
import type { LogEvent } from '../events/event.ts'
import { decode } from '../events/payload.ts'
import type {
  AgentResult,
  AnswerPayload,
  CheckpointPayload,
  DecisionPayload,
  ReceivedPayload,
  TimedOutPayload,
} from '../events/payloads.ts'
import { Unreadable } from '../kernel/operation.ts'
import type { Decision } from './agent/agent.ts'
import { createCancel } from './cancel.ts'
import type { Approval, Approved, Resolution, Review } from './human/ask.ts'

// How each kind of operation decodes its recorded result, on every delivery. A recorded failure is thrown.

type Read<Result> = (event: LogEvent) => Result

/** The author of an answer that was set by a timeout. */
const silence: Actor = 'policy:on-timeout'

export const readValue: Read<unknown> = reader((value) => value)

export const readNothing: Read<undefined> = reader(() => undefined)

export const readAgentOutput: Read<unknown> = reader((value) => (value as AgentResult).output)

/** Reads the id of a checkpoint. */
export const readCheckpoint: Read<string> = reader((value) => (value as CheckpointPayload).id)

/** Reads a signal; null on timeout. A signal without a payload is `true`, so that it differs from a timeout. */
export const readSignal: Read<unknown> = reader((value) => {
  const received = value as ReceivedPayload | TimedOutPayload
  return 'timedOut' in received ? null : payloadOf(received)
})

export const readAnySignal: Read<unknown> = reader((value) => {
  const received = value as ReceivedPayload | TimedOutPayload
  if ('timedOut' in received) return null
  const { name, by } = received
  return { name, payload: payloadOf(received), ...(by === undefined ? {} : { by }) }
})

function payloadOf({ payload }: ReceivedPayload): unknown {
  return payload === undefined ? true : payload
}

export const readApproval: Read<Approval<unknown>> = reader((value, event) => {
  const result = value as AnswerPayload | TimedOutPayload
  if ('timedOut' in result) {
    const at = new Date(event.at)
    if (result.approved !== true)
      return { approved: false, timedOut: true, by: undefined, at, comment: undefined }
    return { approved: true, params: result.params, modified: false, by: silence, at, comment: undefined }
  }
  const { answer, changed } = result
  if (answer.approved !== true) return { approved: false, timedOut: false, ...answered(result) }
  return { approved: true, params: answer.params, modified: changed === true, ...answered(result) }
})

/** Reads an approval whose no cancels the run; behind a shield, which the cancel does not reach, the no rejects as well. */
export const readApproved: Read<Approved<unknown>> = (event) => {
  const approval = readApproval(event)
  if (approval.approved) return approval
  throw createCancel(approval.timedOut ? 'an approval was not given in time' : 'an approval was rejected')
}

export const readInput: Read<unknown> = reader((value) => {
  const result = value as AnswerPayload | TimedOutPayload
  return 'timedOut' in result ? result.default : result.answer.value
})

export const readChoice: Read<unknown> = reader((value) => {
  const result = value as AnswerPayload | TimedOutPayload
  return 'timedOut' in result ? result.default : result.answer.choice
})

export const readReview: Read<Review<unknown, string>> = reader((value, event) => {
  const result = value as AnswerPayload | TimedOutPayload
  if ('timedOut' in result)
    return {
      ...{ choice: String(result.default), artifact: result.artifact, edited: false },
      ...{ by: silence, at: new Date(event.at), comment: undefined },
    }
  const { answer, changed } = result
  return {
    choice: answer.choice ?? '',
    artifact: answer.artifact,
    edited: changed === true,
    ...answered(result),
  }
})

export const readResolution: Read<Resolution<string>> = reader((value) => {
  const result = value as AnswerPayload
  return { choice: result.answer.choice ?? '', ...answered(result) }
})

export const readDecision: Read<Decision<string>> = reader((value) => {
  const { choice, source, why, rationale, confidence, by } = value as DecisionPayload
  return { choice, source, why, rationale, confidence, by: by as Actor }
})

function answered({ by, at, answer }: AnswerPayload): {
  readonly by: Actor
  readonly at: Date
  readonly comment: string | undefined
} {
  return { by: by as Actor, at: new Date(at), comment: answer.comment }
}

/** Wraps `show`: throws a recorded failure, and reports an error of `show` as an unreadable result instead of a failure. */
function reader<Result>(show: (value: unknown, event: LogEvent) => Result): Read<Result> {
  return (event) => {
    let failure: Error
    try {
      const value = decode(event.payload)
      if (!event.failed) return show(value, event)
      failure = reviveFailure(value as FailureRecord)
    } catch (error) {
      throw new Unreadable(error instanceof Error ? error.message : String(error), { cause: error })
    }
    throw failure
  }
}
