import type { OperationKind } from '../events/event.ts'
import type { AskPayload } from '../events/payloads.ts'
import type { Issue, Operation } from '../kernel/operation.ts'
import type { Validation } from '../schemas/schema.ts'
import type { AgentCall } from './agent/agent.ts'
import type { RetryPolicy } from './step/options.ts'

/** The operation of each kind: what the kernel needs to know of it, and what the worker needs to do it. */
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
}

/** What `ctx` issues. */
export type ProcedureOperation = OperationByKind[OperationKind]

/** The key people may answer it by; null if it has none. */
export function askKeyOf(operation: ProcedureOperation): string | null {
  if ('ask' in operation) return operation.ask.key
  return 'fallback' in operation && operation.fallback.do === 'ask' ? operation.fallback.ask.key : null
}

/** Issues an operation of `ctx`. */
export type IssueOperation = Issue<ProcedureOperation>

/** A span, or an instant; ms. */
export type Due = { readonly afterMs: number } | { readonly atMs: number }

export function dueAt(due: Due, from: number): number {
  return 'atMs' in due ? due.atMs : from + due.afterMs
}

/** Counted from when it is asked. */
export function isSpan(due: Due | null): boolean {
  return due !== null && 'afterMs' in due
}

/** A step or a call to an agent: code of the author's that runs outside turns. */
export interface BodyOperation extends Operation {
  readonly kind: 'step' | 'llm'
  readonly body: (call: AgentCall) => unknown
  readonly retry: RetryPolicy
  readonly timeoutMs: number | null
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

/** Which earlier step results are shown. */
export type History = { readonly last: number } | { readonly steps: readonly string[] }

export interface AskOperation extends Operation {
  readonly kind: 'hitl_approval' | 'hitl_input' | 'hitl_select' | 'hitl_review' | 'hitl_escalation'
  readonly ask: AskSpec
}
/** A question to people, as it will be pinned when it is asked. */
export interface AskSpec {
  readonly key: string | null
  readonly to: readonly string[]
  readonly due: Due | null
  readonly history: History
  /** As it will be pinned; the worker adds the history and the deadline. */
  readonly payload: AskPayload
  /** The author's own schema, for what its JSON Schema cannot say. */
  readonly check: ((value: unknown) => Validation | Promise<Validation>) | undefined
}

export interface NoticeOperation extends Operation {
  readonly kind: 'hitl_notification'
  readonly message: string
  readonly fields: object
  /** What is recorded of it. */
  readonly payload: Uint8Array | null
}

export interface DecideOperation extends Operation {
  readonly kind: 'ail_decision'
  readonly question: string
  readonly agentName: string
  /** The agent that judges, put the question. What it returns has the shape of a verdict. */
  readonly assess: (call: AgentCall) => unknown
  readonly choices: readonly string[]
  readonly minConfidence: number
  readonly timeoutMs: number
  readonly attempts: number
  /** What counts when the agent cannot decide. */
  readonly fallback:
    | { readonly do: 'choose'; readonly choice: string }
    | { readonly do: 'ask'; readonly ask: AskSpec }
    | { readonly do: 'fail'; readonly message: string }
}
