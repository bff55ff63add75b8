// All timeouts and intervals of the store, in milliseconds.

/** Time without a response after which a connection counts as broken, even if TCP keeps it open. */
export const statementTimeoutMs = 15_000
/** Maximum time until a new connection's first reply. */
export const greetingTimeoutMs = 5_000

/** Maximum time to retry a call before it rejects. */
export const callRetryMs = 30_000
/** The same for a commit. Shorter, because the worker retries and reports it itself. */
export const commitRetryMs = 2_000
/** The same before the first call has succeeded, when a configuration error is more likely than an outage. */
export const firstCallRetryMs = 3_000

/** Maximum delay with which a request can arrive after its connection broke. */
export const lateRequestMs = 120_000
/** Minimum interval between hints. Hints in between are merged. */
export const hintIntervalMs = 5
