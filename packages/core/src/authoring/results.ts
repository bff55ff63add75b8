import type { Actor } from '../base/people.ts'
import { type FailureRecord, reviveFailure } from '../errors/failure.ts'
import type { LogEvent } from '../events/event.ts'
import { decode } from '../events/payload.ts'
import type {
  AgentResult,
  AnswerPayload,
  DecisionPayload,
  ReceivedPayload,
  TimedOutPayload,
} from '../events/payloads.ts'
import { Unreadable } from '../kernel/operation.ts'
import type { Decision } from './agent.ts'
import type { Approval, Resolution, Review } from './ask.ts'

// How each kind of operation reads its recorded result, afresh at every delivery. A recorded failure is thrown.

/** Who is said to have decided when silence counts as an answer. */
const silence: Actor = 'policy:on-timeout'

export function readValue(event: LogEvent): unknown {
  if (event.failed) throw reviveFailure(read(event) as FailureRecord)
  return event.payload === null ? undefined : read(event)
}

export function readNothing(event: LogEvent): undefined {
  readValue(event)
}

export function readAgentOutput(event: LogEvent): unknown {
  return (readValue(event) as AgentResult).output
}

/** Null if none came in time. A signal without a payload is `true`, so that it never looks like that. */
export function readSignal(event: LogEvent): unknown {
  const received = readValue(event) as ReceivedPayload | TimedOutPayload
  return 'timedOut' in received ? null : payloadOf(received)
}

export function readAnySignal(event: LogEvent): unknown {
  const received = readValue(event) as ReceivedPayload | TimedOutPayload
  return 'timedOut' in received ? null : { name: received.name, payload: payloadOf(received) }
}

function payloadOf({ payload }: ReceivedPayload): unknown {
  return payload === undefined ? true : payload
}

export function readApproval(event: LogEvent): Approval<unknown> {
  const result = readValue(event) as AnswerPayload | TimedOutPayload
  if ('timedOut' in result) {
    const at = new Date(event.at)
    if (result.approved !== true)
      return { approved: false, timedOut: true, by: undefined, at, comment: undefined }
    return { approved: true, params: result.params, modified: false, by: silence, at, comment: undefined }
  }
  const { answer, changed } = result
  if (answer.approved !== true) return { approved: false, timedOut: false, ...answered(result) }
  return { approved: true, params: answer.params, modified: changed === true, ...answered(result) }
}

export function readInput(event: LogEvent): unknown {
  const result = readValue(event) as AnswerPayload | TimedOutPayload
  return 'timedOut' in result ? result.default : result.answer.value
}

export function readChoice(event: LogEvent): unknown {
  const result = readValue(event) as AnswerPayload | TimedOutPayload
  return 'timedOut' in result ? result.default : result.answer.choice
}

export function readReview(event: LogEvent): Review<unknown, string> {
  const result = readValue(event) as AnswerPayload | TimedOutPayload
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
}

export function readResolution(event: LogEvent): Resolution<string> {
  const result = readValue(event) as AnswerPayload
  return { choice: result.answer.choice ?? '', ...answered(result) }
}

export function readDecision(event: LogEvent): Decision<string> {
  const { choice, source, why, rationale, confidence, by } = readValue(event) as DecisionPayload
  return { choice, source, why, rationale, confidence, by: by as Actor }
}

function answered({ by, at, answer }: AnswerPayload): {
  readonly by: Actor
  readonly at: Date
  readonly comment: string | undefined
} {
  return { by: by as Actor, at: new Date(at), comment: answer.comment }
}

function read(event: LogEvent): unknown {
  try {
    return decode(event.payload)
  } catch (error) {
    throw new Unreadable(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
