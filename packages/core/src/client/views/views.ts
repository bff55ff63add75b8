import type { RiskDetails, Section } from '../../authoring/human/ask.ts'
import type { Actor, Audience } from '../../base/people.ts'
import type { AskKind, AskStatus, RunStatus, Severity } from '../../base/words.ts'
import type { Failure } from '../../errors/error-details.ts'

/** A run as seen from outside. */
export interface RunView {
  readonly id: string
  readonly procedure: string
  /** 0 until a worker has begun a run that was started by `ref`, with whose code nobody knew which it would be. */
  readonly version: number
  readonly status: RunStatus
  readonly startedAt: Date
  readonly endedAt: Date | undefined
  /** One entry for each thing it waits for, at most 100; none while one of its steps is running. */
  readonly waitingFor: readonly Waiting[]
  /** Why it failed, is stuck or is quarantined; with its stack. */
  readonly failure: Failure | undefined
  readonly tags: readonly string[]
  readonly startedBy: Actor | undefined
  /** What an ended run left behind, at most a hundred of each: signals nobody read, operations nobody awaited. */
  readonly leftOver: {
    readonly signals: readonly string[]
    readonly operations: readonly { readonly position: number; readonly name: string }[]
  }
}

/** One thing that a run waits for. */
export interface Waiting {
  /** 'worker': the run is due, and no live engine has its procedure in its version. Not in this release: 'child', 'queue'. */
  readonly kind: 'ask' | 'signal' | 'timer' | 'step' | 'child' | 'worker' | 'queue'
  /** For 'worker': the procedure. */
  readonly name: string
  /** For 'worker': the position of the next operation. */
  readonly position: number
  /** For an ask: its id in the inbox. */
  readonly ask: string | undefined
  readonly until: Date | undefined
}

/** What a run asked of the outside and what came of it, by position. */
export interface ExecutionLog {
  readonly procedure_id: string
  readonly execution_log: readonly {
    readonly position: number
    /**
     * 'step', 'llm', 'timer', 'signal', 'hitl_approval', 'hitl_input', 'hitl_select', 'hitl_review',
     * 'hitl_escalation', 'hitl_notification', 'ail_decision'; more may come.
     */
    readonly type: string
    readonly name: string
    readonly status: 'open' | 'done' | 'failed' | 'withdrawn'
    /**
     * null while open. `{}` where there is no value, `{ error: { name, message, code } }` for a failure; an
     * answer also carries `responded_at` and `timed_out`.
     */
    readonly result: unknown
    readonly timestamp: string
    readonly duration_ms: number
  }[]
  /** How many entries have a result. */
  readonly replay_index: number
}

/** A question as a person sees it. */
export interface Ask {
  readonly id: string
  readonly run: string
  readonly procedure: string
  readonly position: number
  readonly key: string | undefined
  readonly kind: AskKind
  readonly status: AskStatus
  /** With its placeholders filled in. */
  readonly message: string
  readonly params: unknown
  readonly editable: readonly string[]
  /** JSON Schema of what may be answered. */
  readonly schema: object | undefined
  readonly choices: readonly {
    readonly value: string
    readonly label: string
    readonly effect: string | undefined
    readonly style: 'primary' | 'danger' | undefined
  }[]
  readonly artifact: unknown
  readonly baseline: unknown
  readonly as: Section['as'] | undefined
  readonly initial: unknown
  readonly severity: Severity | undefined
  readonly error: Failure | undefined
  readonly alternatives: readonly { readonly label: string; readonly description?: string }[]
  readonly risk: RiskDetails | undefined
  /** Who started the run. */
  readonly startedBy: Actor | undefined
  readonly to: readonly Audience[]
  readonly details: readonly Section[]
  readonly links: readonly { readonly label: string; readonly url: string }[]
  readonly history: readonly {
    readonly step: string
    readonly result: unknown
    readonly durationMs: number
  }[]
  readonly askedAt: Date
  readonly dueAt: Date | undefined
  /** What happens if nobody answers. */
  readonly onTimeout: string | undefined
  readonly overdue: boolean
  /** Not in this release: undefined. */
  readonly claimedBy: Actor | undefined
  readonly answer: (Answer & { readonly by: Actor; readonly at: Date }) | undefined
}

/** What is answered reads like what the procedure gets. */
export type Answer = { readonly comment?: string | undefined } & (
  | { /** approve */ readonly approved: true; readonly params?: object | undefined }
  | { /** approve */ readonly approved: false }
  | { /** input */ readonly value: unknown }
  | {
      /** select, review, escalate, decide */ readonly choice: string /** review */
      readonly artifact?: unknown
    }
)
