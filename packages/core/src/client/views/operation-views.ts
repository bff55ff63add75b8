import { failureOf } from '../../errors/failure.ts'
import type { LogEvent, OperationKind } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'
import type {
  AgentResult,
  AnswerOrigin,
  AnswerPayload,
  CheckpointPayload,
  DecisionPayload,
  ReceivedPayload,
  RepliedPayload,
  TimedOutPayload,
  UpdatePayload,
} from '../../events/payloads.ts'
import type { Waiting } from './views.ts'

/** The public view of one kind of operation. */
interface OperationView {
  /** The `kind` in `waitingFor` while it is pending, unless it has an open ask. */
  readonly waitsFor: Waiting['kind']
  /** Returns the `result` of its entry in the execution log. Never null, which means pending. */
  resultOf(payload: unknown, event: LogEvent): unknown
}

/** Returns the payload as recorded; `{}` if there is none. */
const recorded = (payload: unknown): unknown => payload ?? {}

const ask: OperationView = {
  waitsFor: 'ask',
  resultOf: (payload, event) => answerResult(event, payload as AnswerPayload | TimedOutPayload),
}

/** One view for each kind of operation; a missing kind is a type error. */
export const operationViews: { readonly [K in OperationKind]: OperationView } = {
  step: { waitsFor: 'step', resultOf: recorded },
  llm: { waitsFor: 'step', resultOf: (payload) => agentResult(payload as AgentResult) },
  timer: { waitsFor: 'timer', resultOf: recorded },
  signal: {
    waitsFor: 'signal',
    resultOf: (payload) => signalResult(payload as ReceivedPayload | TimedOutPayload),
  },
  hitl_approval: ask,
  hitl_input: ask,
  hitl_select: ask,
  hitl_review: ask,
  hitl_escalation: ask,
  hitl_notification: { waitsFor: 'step', resultOf: recorded },
  ail_decision: {
    waitsFor: 'step',
    resultOf: (payload) => {
      const { at, madeBy, actedBy, ...decision } = payload as DecisionPayload
      return {
        ...decision,
        ...behind({ madeBy, actedBy }),
        value: decision.choice,
        responded_at: new Date(at).toISOString(),
        timed_out: false,
      }
    },
  },
  undo: { waitsFor: 'step', resultOf: recorded },
  child: { waitsFor: 'child', resultOf: recorded },
  spawn: { waitsFor: 'child', resultOf: recorded },
  result: { waitsFor: 'child', resultOf: recorded },
  send: { waitsFor: 'step', resultOf: recorded },
  update: { waitsFor: 'signal', resultOf: (payload) => updateResult(payload as UpdatePayload) },
  reply: { waitsFor: 'step', resultOf: (payload) => replyResult(payload as RepliedPayload) },
  checkpoint: {
    waitsFor: 'step',
    resultOf: (payload) => {
      const { id, state } = payload as CheckpointPayload
      return { id, ...(state === null ? {} : { state: decode(state) }) }
    },
  },
}

/** Returns the result of an ask. What was decided is its `value`, of each kind of ask; null: nothing. */
export function answerResult(event: LogEvent, payload: AnswerPayload | TimedOutPayload): object {
  if ('timedOut' in payload) {
    const { timedOut, ...rest } = payload
    return {
      ...rest,
      value: rest.approved ?? rest.default ?? null,
      responded_at: new Date(event.at).toISOString(),
      timed_out: timedOut,
    }
  }
  const { answer, changed, by, via, madeBy, actedBy, at } = payload
  return {
    ...answer,
    value: answer.approved ?? answer.choice ?? answer.value ?? null,
    ...(changed ? { changed } : {}),
    by,
    ...(via === undefined ? {} : { via }),
    ...behind({ madeBy, actedBy }),
    responded_at: new Date(at).toISOString(),
    timed_out: false,
  }
}

/** Who made the link of an answer, and who gave it for another person. */
function behind({ madeBy, actedBy }: Partial<Record<keyof AnswerOrigin, string | undefined>>): object {
  return {
    ...(madeBy === undefined ? {} : { made_by: madeBy }),
    ...(actedBy === undefined ? {} : { acted_by: actedBy }),
  }
}

/** The schema is there for edits, and the same in each result of an agent. */
function agentResult({ schema: _, ...result }: AgentResult): object {
  return result
}

function updateResult({ input, by }: UpdatePayload): object {
  return by === undefined ? { input } : { input, by }
}

function replyResult(reply: RepliedPayload): unknown {
  if ('failure' in reply) return { error: failureOf(reply.failure) }
  return 'value' in reply ? (reply.value ?? {}) : {}
}

function signalResult(payload: ReceivedPayload | TimedOutPayload): object {
  return 'timedOut' in payload ? { timed_out: true } : { ...payload, timed_out: false }
}
