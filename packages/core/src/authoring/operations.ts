import type { FailureRecord } from '../errors/failure.ts'
import type { OperationKind } from '../events/event.ts'
import type { AskPayload, NoticePayload } from '../events/payloads.ts'
import type { Issue, Operation } from '../kernel/operation.ts'
import type { Schema, Validation } from '../schemas/schema.ts'
import type { AgentCall } from './agent/agent.ts'
import type { RetryPolicy } from './step/options.ts'

/** The operation of each kind: the data for the kernel and for the worker. */
export interface OperationByKind {
  readonly step: BodyOperation
  readonly llm: BodyOperation
  readonly timer: TimerOperation
  readonly signal: SignalOperation
  readonly hitl_approval: AskOperation
  readonly hitl_input: AskOperation
  readonly hitl_select: AskOperation
  readonly hitl_review: AskOperation
  readonly hitl_escalation: AskOperation
  readonly hitl_notification: NoticeOperation
  readonly ail_decision: DecideOperation
  readonly undo: BodyOperation
  readonly child: ChildOperation
  readonly spawn: ChildOperation
  readonly result: ResultOperation
  readonly send: SendOperation
  readonly update: UpdateOperation
  readonly reply: ReplyOperation
  readonly checkpoint: CheckpointOperation
}

/** An operation of `ctx`. */
export type ProcedureOperation = OperationByKind[OperationKind]

/** Returns the key by which people can answer the operation; null if it has none. */
export function askKeyOf(operation: ProcedureOperation): string | null {
  if ('ask' in operation) return operation.ask.key
  return 'fallback' in operation && operation.fallback.do === 'ask' ? operation.fallback.ask.key : null
}

/** Issues an operation of `ctx`. */
export type IssueOperation = Issue<ProcedureOperation>

/** A duration or an instant, in ms. */
export type Due = { readonly afterMs: number } | { readonly atMs: number }

export function dueAt(due: Due, from: number): number {
  return 'atMs' in due ? due.atMs : from + due.afterMs
}

/** Returns whether a due time counts from when the ask is opened. */
export function isSpan(due: Due | null): boolean {
  return due !== null && 'afterMs' in due
}

/** A step, an agent call or an undo: the author's code, which runs outside turns. */
export interface BodyOperation extends Operation {
  readonly kind: 'step' | 'llm' | 'undo'
  readonly body: (call: AgentCall) => unknown
  /** What an agent is given. Missing for anything else. */
  readonly input?: Uint8Array | null
  /** The JSON Schema of what an agent returns, if it has one. */
  readonly outputSchema?: () => object | undefined
  readonly retry: RetryPolicy
  readonly timeoutMs: number | null
  /** Called before each attempt. It rejects with `Withheld` if what the operation was issued upon does not hold any more. */
  readonly holds?: (attempt: AttemptMoment) => Promise<void>
  /** The position whose key it has: that of an earlier operation that tried the same. Default: its own. */
  readonly keyOf?: number | undefined
}

/** An attempt that is about to begin. */
export interface AttemptMoment {
  /** From 1. */
  readonly number: number
  /** The store's time, in ms since 1970. */
  readonly now: number
  /** The time of the event upon which the operation was issued. */
  readonly issuedAt: number
}

export interface TimerOperation extends Operation {
  readonly kind: 'timer'
  readonly due: Due
}

export interface SignalOperation extends Operation {
  readonly kind: 'signal'
  readonly names: readonly string[]
  readonly due: Due | null
}

/** Selects the earlier step results to show. */
export type History = { readonly last: number } | { readonly steps: readonly string[] }

export interface AskOperation extends Operation {
  readonly kind: 'hitl_approval' | 'hitl_input' | 'hitl_select' | 'hitl_review' | 'hitl_escalation'
  readonly ask: AskSpec
}
/** An ask, as it will be stored. */
export interface AskSpec {
  readonly key: string | null
  readonly to: readonly string[]
  readonly due: Due | null
  readonly history: History
  /** The payload to store; the worker adds the history and the deadline. */
  readonly payload: AskPayload
  /** The author's schema, which checks more than its JSON Schema. */
  readonly check: ((value: unknown) => Validation | Promise<Validation>) | undefined
  /** Whether a no, or a timeout that counts as one, cancels the run. */
  readonly cancelsRun?: boolean
}

export interface NoticeOperation extends Operation {
  readonly kind: 'hitl_notification'
  readonly notice: NoticePayload
}

/** Creates another run: and waits for its end (`child`), or does not (`spawn`). */
export interface ChildOperation extends Operation {
  readonly kind: 'child' | 'spawn'
  readonly child: ChildSpec
}

/** The run to be created. */
export interface ChildSpec {
  readonly procedure: string
  /** Undefined if only its name is known: then its worker checks the input. */
  readonly code:
    | { readonly name: string; readonly version: number; readonly input?: Schema | undefined }
    | undefined
  /** Null: derived from this run and the position. */
  readonly id: string | null
  /** As the author passed it. */
  readonly input: Uint8Array | null
  /** Whether the end of this run does not cancel it. */
  readonly isDetached: boolean
}

/** Waits for the end of another run. */
export interface ResultOperation extends Operation {
  readonly kind: 'result'
  readonly run: string
}

/** Sends a signal to another run, or cancels it. */
export interface SendOperation extends Operation {
  readonly kind: 'send'
  readonly run: string
  readonly message:
    | { readonly do: 'cancel'; readonly payload: Uint8Array }
    /** `args`: what follows the name in the call of `signal`, encoded as a list. */
    | { readonly do: 'signal'; readonly schema: Schema | undefined; readonly args: Uint8Array | null }
}

/** Takes the oldest update of its name. */
export interface UpdateOperation extends Operation {
  readonly kind: 'update'
  readonly isPassive: true
}

/** Replies to an update. */
export interface ReplyOperation extends Operation {
  readonly kind: 'reply'
  /** The number of the message of the update. */
  readonly n: number
  /** What the handler returned or threw. */
  readonly outcome: { readonly value: unknown } | { readonly failure: FailureRecord }
}

/** Records a point that the run can be forked from, with a value. */
export interface CheckpointOperation extends Operation {
  readonly kind: 'checkpoint'
  readonly state: Uint8Array | null
}

export interface DecideOperation extends Operation {
  readonly kind: 'ail_decision'
  readonly question: string
  /** What the agent is shown, encoded. */
  readonly material: Uint8Array | null
  readonly agentName: string
  /** Calls the agent with the question. Its result has the shape of a verdict. */
  readonly assess: (call: AgentCall) => unknown
  readonly choices: readonly string[]
  readonly minConfidence: number
  readonly timeoutMs: number
  readonly attempts: number
  /** The outcome if the agent cannot decide. */
  readonly fallback:
    | { readonly do: 'choose'; readonly choice: string }
    | { readonly do: 'ask'; readonly ask: AskSpec }
    | { readonly do: 'fail'; readonly message: string }
}
