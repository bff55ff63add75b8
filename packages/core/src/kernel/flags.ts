// The format of a log is recorded in its first event. A later kernel can then replay an old log, and an older one leaves a
// newer log to the workers that know it.

/** The format of a log. */
export const logFormat = 1

/** The log records the validated input first, if the starter could not validate it. */
export const acceptsFirst = 'accepted'

/** The run cancels itself after a timeout, which its first event states. */
export const timesOut = 'timeout'

/** The run asks again what an earlier generation has asked: as another ask, whose number its first event states. */
export const asksAgain = 'asks-again'

/** Changes of behaviour since the first version, by name. A log lists the ones it relies on. */
export const kernelFlags: readonly string[] = [acceptsFirst, timesOut, asksAgain]
