// Words that people and programs choose from, each list once.

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
 * `running`: at work, or due, so that the next worker that has its code takes it. `waiting`: for what `waitingFor` says.
 * `stuck`: the code no longer matches the log. `quarantined`: the log fails its checks.
 */
export type RunStatus = (typeof runStatuses)[number]

/** Stores keep the place in this list: append to it, never change its order. */
export const askStatuses = ['open', 'answered', 'timed-out', 'withdrawn'] as const
export type AskStatus = (typeof askStatuses)[number]

export const askKinds = ['approve', 'input', 'select', 'review', 'escalate', 'decide'] as const
export type AskKind = (typeof askKinds)[number]

/** The least first: the place in the list is the urgency. */
export const riskLevels = ['low', 'medium', 'high', 'critical'] as const
export type RiskLevel = (typeof riskLevels)[number]

/** How bad it is, on escalations and notices; in the order of risk levels. */
export const severities = ['info', 'warning', 'error', 'critical'] as const
export type Severity = (typeof severities)[number]
