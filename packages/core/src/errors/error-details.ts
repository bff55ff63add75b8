import type { Duration } from '../base/duration.ts'
import type { Issues } from '../base/issues.ts'
import type { Actor } from '../base/people.ts'
import type { AskStatus, PolicyVerdict, RunStatus } from '../base/words.ts'

/** An error as it is stored in the log. `instanceof` does not survive a replay; `name` and `code` do. */
export interface Failure {
  readonly name: string
  readonly message: string
  readonly code: string | undefined
  /** Stack frames, the author's code first. Only set in `status().failure`. */
  readonly stack?: string
}

/** The `details` of an error, by its code. */
export interface ErrorDetails {
  /** An answer to a question for people came from an actor that is not a person (an `agent:`, a `policy:` or a `system:`), or through a channel from a person who may not give it. `details.ask` is the id of the ask, `details.address` its run and position. */
  'answer-forbidden': { readonly ask: string; readonly address?: string }
  /** An answer is not valid for its ask. `details.issues` lists at most 100 issues; `details.more` is `true` if there are more. */
  'answer-invalid': Issues
  /** An answer names the digest of a question that differs from the one which is asked now. `details.ask` is the id of the ask, `details.address` its run and position. */
  'ask-changed': { readonly ask: string; readonly address?: string }
  /** An answer came for an ask that is closed: another answer was accepted, its timeout passed, or it was withdrawn, such as at the end of its run. `details.winner` names who answered, and when. */
  'ask-closed': {
    readonly status: AskStatus
    readonly winner: { readonly by: Actor; readonly at: Date } | undefined
  }
  /** An ask with this id does not exist in the store. */
  'ask-not-found': { readonly ask: string; readonly address?: string }
  /** No person answered before the `timeout` of the question passed. `details.ask` is the id of the ask, `details.address` its run and position. */
  'ask-timed-out': { readonly ask: string; readonly address?: string; readonly message: string }
  /** The run was cancelled, or a part of it was closed, such as a branch that lost a race. Its pending operations reject with this error, so that `finally` blocks run. */
  cancelled: { readonly reason: string | undefined }
  /**
   * A later attempt of the action of a gate did not begin: its facts have changed, its yes has expired, or a policy is stricter since.
   * The gate asks again. `details.attempted` is `true` if an earlier attempt may have had its effect.
   */
  'consent-outdated': {
    readonly action: string
    readonly why: 'facts' | 'expired' | 'policy'
    readonly attempted: boolean
    readonly verdict: PolicyVerdict
    readonly by: string
  }
  /** A duration is not a number with one unit. Thrown by `duration()` and by every call that takes a duration. */
  'duration-invalid': { readonly text: string }
  /** An engine or a client was used after its `stop()`. */
  'engine-stopped': { readonly [none: string]: never }
  /** The bytes given to `import` or `check` are not a run that was exported, or are damaged. `details.reason` says where and how. */
  'export-invalid': { readonly reason: string }
  /** A run created by another run called `call` or `spawn`, and all runs below the first one, `details.root`, are as many as `maxDescendants` of the engine, `details.limit`. */
  'family-full': { readonly root: string; readonly limit: number }
  /** A call or an operation needs a feature that the store does not have: `details.feature`. The stores that come with Pawl have all of them. */
  'feature-missing': { readonly feature: 'copies' | 'removals' | 'checkpoints' | 'notices' | 'suspects' }
  /** A procedure waits for something that is not an operation of its `ctx`, or its `ctx` is used outside the procedure, such as in the body of a step. `details.after` names the last operation before it, `details.what` how Pawl noticed it. */
  'foreign-await': { readonly run: string; readonly after: string; readonly what: string }
  /** `run` was called with the id of an existing run that has a different procedure or input; or `fork`, `import`, `ctx.call` or `ctx.spawn` with an id that another run has. */
  'id-taken': { readonly id: string }
  /** The input of a run does not match the input schema of its procedure, or the procedure takes no input. `details.issues` lists at most 100 issues; `details.more` is `true` if there are more. */
  'input-invalid': Issues
  /** The log of a run has reached its limit; see `logLimits` of the engine. `details.events` is the number of its events. */
  'log-full': { readonly run: string; readonly events: number }
  /** During replay, the code asked for a different operation than the log contains. `details.recorded` and `details.asked` name both, `details.at` is the place in the code. */
  nondeterminism: {
    readonly position: number
    readonly recorded: string
    readonly asked: string
    readonly at: string
  }
  /** A procedure called `fetch`, or a method of an engine, client, inbox or run handle, outside a step; or, with `determinism: 'error'`, the clock or `Math.random()`. `details.use` names a replacement. */
  'nondeterministic-call': { readonly call: string; readonly use: string }
  /** An option is unknown, or its value is not allowed. TypeScript rejects most of these earlier. */
  'option-invalid': { readonly option: string; readonly given: string }
  /** The output of a procedure does not match its output schema. `details.issues` lists at most 100 issues; `details.more` is `true` if there are more. */
  'output-invalid': Issues
  /** The payload of a signal, or the input of an update, does not match the schema that the procedure declares. `details.issues` lists at most 100 issues; `details.more` is `true` if there are more. */
  'payload-invalid': Issues
  /** A value that must be stored is not plain data, is larger than 2 MiB, or is deeper than 256 levels. `details.path` leads to the part that cannot be stored. */
  'payload-refused': { readonly path: string }
  /** The tasks of a plan are not a plan: they are incomplete, need each other in a cycle, or use what is not there. `details.issues` lists at most 100 issues with their paths. */
  'plan-invalid': Issues
  /** A step with `classes` did not run, because the `policy` of the engine did not allow it. `details.verdict` is what the policy returned. */
  'policy-refused': { readonly step: string; readonly verdict: PolicyVerdict }
  /** A procedure threw a programming error. `details.cause` holds its name, message and code, `details.at` is the place in the code as file:line:column, or '' if it is unknown. */
  'procedure-broken': { readonly run: string; readonly cause: Failure; readonly at: string }
  /** `createEngine` received two procedures with the same name and version, or a plug-in has one of the same name. */
  'procedure-duplicate': { readonly procedure: string }
  /** A run was started through an engine that does not have its procedure. */
  'procedure-unknown': { readonly procedure: string }
  /** `result()` was called for a run that was cancelled. */
  'run-cancelled': { readonly run: string; readonly reason: string | undefined }
  /** A signal or an update was held back by its run for longer than 10 s. `details.after` says how long. */
  'run-busy': { readonly run: string; readonly after: string }
  /** A signal, an update, an early answer, `retry` or `inbox.next({ run })` concerns a run that has ended. `details.status` says how it ended. With `details.child`, `retry` was called for a run whose child was deleted. */
  'run-ended': { readonly run: string; readonly status: RunStatus; readonly child?: string }
  /** `result()` was called for a run whose procedure threw. `details.cause` holds the name, message and code of the error; the `cause` of this error is the error itself. `details.rolledBack` is set if undos have run, so that a retry is refused. */
  'run-failed': { readonly run: string; readonly cause: Failure; readonly rolledBack?: true }
  /** `delete` was called for a run that has not ended, or for a child whose live parent, `details.parent`, may still ask for its result; or `retry` for a run with a child that is still being cancelled. `details.status` says what it does. */
  'run-live': { readonly run: string; readonly status: RunStatus; readonly parent?: string }
  /** A run with this id does not exist in the store. `get` returns a handle without I/O, so its first use throws this error. */
  'run-not-found': { readonly run: string }
  /** A run is no longer executed because its log is damaged or behind what a worker has seen, because its workers crashed or were blocked while it was the only suspect, or because Pawl failed on its data. `details.reason` says which. */
  'run-quarantined': { readonly run: string; readonly reason: string }
  /** `retry` was called for a failed run that has undone steps, or has tried to: their recorded results are not true any more. */
  'run-rolled-back': { readonly run: string; readonly child?: string }
  /** A fork, or a run below it, sent a signal to a run of its original, `details.original`, or cancelled one. */
  'run-shared': { readonly run: string; readonly original: string }
  /** A step, or a call to an agent, failed in its last attempt. `details.cause` holds the name, message and code of the last error. */
  'step-failed': { readonly step: string; readonly attempts: number; readonly cause: Failure }
  /** A step, or a call to an agent, exceeded its `timeout` in its last attempt. */
  'step-timed-out': { readonly step: string; readonly after: Duration }
  /** A store cannot be opened or used. `details.remedy` says what to do. */
  'store-unusable': { readonly remedy: string }
  /** The log of a run marks a branch of `ctx.version` that the code no longer offers. `details.recorded` is the branch, `details.offered` lists the branches of the code. */
  'version-gone': {
    readonly run: string
    readonly change: string
    readonly recorded: number
    readonly offered: readonly number[]
  }
  /** The handler of an update threw an error, its reply is invalid, or the procedure does not declare the update. `details.cause` holds the name, message and code of the error. */
  'update-refused': { readonly run: string; readonly update: string; readonly cause: Failure }
  /** A run ended, or continued with an empty log, while the handler of an update was at work. The handler may have acted. `details.status` says what the run did. */
  'update-unfinished': {
    readonly run: string
    readonly update: string
    readonly status: RunStatus | 'continued'
  }
  /** `result`, `update`, `state` or `inbox.next` waited for its whole `timeout` or `wait`. */
  'wait-timed-out': { readonly after: Duration }
}

/** A code of a {@link PawlError}. */
export type ErrorCode = keyof ErrorDetails
