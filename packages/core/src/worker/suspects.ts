/**
 * A run that was taken from dead workers this often without a new event may be what kills them. Such runs are
 * taken one at a time, so that the one that does is found, and those that were only near it go on.
 */
export const suspectTries = 2

/** Taken five times alone, it is quarantined. */
export const maxTries: number = suspectTries + 5
