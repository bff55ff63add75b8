import type { Duration } from '../base/duration.ts'
import type { Issues } from '../base/issues.ts'
import type { Actor } from '../base/people.ts'
import type { AskStatus, RunStatus } from '../base/words.ts'

/** An error as it is kept in the log. `instanceof` does not survive a replay; `name` and `code` do. */
export interface Failure {
  readonly name: string
  readonly message: string
  readonly code: string | undefined
  /** Frames with the author's code first. Of `status().failure` only. */
  readonly stack?: string
}

/** Every code, with what its error carries. The message says what to do; `help` is a page about it. */
export interface ErrorDetails {
  'answer-forbidden': { readonly ask: string }
  'answer-invalid': Issues
  'ask-closed': {
    readonly status: AskStatus
    readonly winner: { readonly by: Actor; readonly at: Date } | undefined
  }
  'ask-not-found': { readonly ask: string }
  'ask-timed-out': { readonly ask: string; readonly message: string }
  cancelled: { readonly reason: string | undefined }
  'duration-invalid': { readonly text: string }
  'engine-stopped': { readonly [none: string]: never }
  /** `after`: the last operation before it. `what`: how it showed. */
  'foreign-await': { readonly run: string; readonly after: string; readonly what: string }
  'id-taken': { readonly id: string }
  'input-invalid': Issues
  nondeterminism: {
    readonly position: number
    readonly recorded: string
    readonly asked: string
    readonly at: string
  }
  'nondeterministic-call': { readonly call: string; readonly use: string }
  'option-invalid': { readonly option: string; readonly given: string }
  'output-invalid': Issues
  'payload-invalid': Issues
  'payload-refused': { readonly path: string }
  /** `at`: file:line:column in the author's code; empty if it is unknown. */
  'procedure-broken': { readonly run: string; readonly cause: Failure; readonly at: string }
  'procedure-duplicate': { readonly procedure: string }
  'procedure-unknown': { readonly procedure: string }
  'run-cancelled': { readonly run: string; readonly reason: string | undefined }
  'run-ended': { readonly run: string; readonly status: RunStatus }
  'run-failed': { readonly run: string; readonly cause: Failure }
  'run-not-found': { readonly run: string }
  'run-quarantined': { readonly run: string; readonly reason: string }
  'step-failed': { readonly step: string; readonly attempts: number; readonly cause: Failure }
  'step-timed-out': { readonly step: string; readonly after: Duration }
  'store-unusable': { readonly remedy: string }
  'wait-timed-out': { readonly after: Duration }
}

export type ErrorCode = keyof ErrorDetails
