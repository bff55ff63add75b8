// What the first event of a log says of the log itself, so that a later kernel can replay an old log, and an older
// one leaves a newer log to those who know it.

/** The form of a log. */
export const logFormat = 1

/** The input of a run whose starter could not check it stands in the log as its schema made it, before all else. */
export const acceptsFirst = 'accepted'

/** What is done otherwise than at first, by name. A log has those that it relies on. */
export const kernelFlags: readonly string[] = [acceptsFirst]
