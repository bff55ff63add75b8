// Every span of time that the store waits, in milliseconds.

/** A connection that says nothing for this long while a statement runs counts as broken, whatever TCP says. */
export const statementTimeoutMs = 15_000
/** A new connection has this long for its first reply. */
export const greetingTimeoutMs = 5_000

/** A call that cannot be carried out is retried for this long before its caller is told. */
export const callRetryMs = 30_000
/** The same for a commit. Shorter, since the worker repeats and reports it itself. */
export const commitRetryMs = 2_000
/** The same until a first call has succeeded: then it is more likely a mistake than an outage. */
export const firstCallRetryMs = 3_000

/** A request may arrive this long after its connection broke, and no later. */
export const lateRequestMs = 120_000
/** Hints closer together than this are sent as one. */
export const hintIntervalMs = 5
