/**
 * `running`: at work, or due, so that the next worker that has its code takes it. `waiting`: for what `waitingFor` says.
 * `stuck`: the code no longer matches the log. `quarantined`: the log fails its checks.
 */
export type RunStatus = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'stuck' | 'quarantined'

export type AskStatus = 'open' | 'answered' | 'timed-out' | 'withdrawn'
