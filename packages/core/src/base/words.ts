// Enumerations of the public API, each list defined once.

export const runStatuses = [
  'running',
  'waiting',
  'completed',
  'failed',
  'cancelled',
  'stuck',
  'quarantined',
] as const
/**
 * The state of a run.
 * - `running`: loaded by a worker, or due, so that the next worker that has its code claims it
 * - `waiting`: parked until one of its `waitingFor` settles
 * - `stuck`: the code no longer matches the log
 * - `quarantined`: the log failed its checks
 */
export type RunStatus = (typeof runStatuses)[number]

/** The statuses of runs that have ended. */
export const endStatuses: readonly RunStatus[] = ['completed', 'failed', 'cancelled']

export const runVerbs = ['retry', 'cancel', 'signal', 'fork', 'delete'] as const

/** What people do with a run. */
export type RunVerb = (typeof runVerbs)[number]

export const waitingKinds = ['ask', 'signal', 'timer', 'step', 'child', 'worker', 'queue'] as const

/** What a parked run waits for. */
export type WaitingKind = (typeof waitingKinds)[number]

export const entryStatuses = ['open', 'done', 'failed', 'withdrawn'] as const

/** The state of an operation in the execution log. */
export type EntryStatus = (typeof entryStatuses)[number]

export const formats = ['text', 'markdown', 'json', 'code', 'table', 'diff', 'image'] as const

/** The format in which a section or an artifact is shown. */
export type Format = (typeof formats)[number]

/** Stores save the index in this list: append only, never reorder. */
export const askStatuses = ['open', 'answered', 'timed-out', 'withdrawn'] as const

/** The state of an ask. */
export type AskStatus = (typeof askStatuses)[number]

export const askKinds = ['approve', 'input', 'select', 'review', 'escalate', 'decide'] as const

/** The kind of an ask, named after its `ctx.human` method or `decide`. */
export type AskKind = (typeof askKinds)[number]

/** Least urgent first: the index is the urgency. */
export const riskLevels = ['low', 'medium', 'high', 'critical'] as const

/** A level of risk. */
export type RiskLevel = (typeof riskLevels)[number]

/** The severity of escalations and notices, in the order of the risk levels. */
export const severities = ['info', 'warning', 'error', 'critical'] as const

/** A level of severity. */
export type Severity = (typeof severities)[number]

export const commentRules = ['comment', 'comment-on-reject'] as const

/** Which answers to an ask must have a comment. */
export type CommentRule = (typeof commentRules)[number]

/** Most permissive first: of two verdicts the later one counts. */
export const policyVerdicts = ['allow', 'agent', 'human', 'deny'] as const

/** Who must agree to an action: an agent, a person, or neither; 'deny' forbids it. */
export type PolicyVerdict = (typeof policyVerdicts)[number]
