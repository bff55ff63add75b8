/** A run that workers died over so often in a row, without a new event, is a suspect: it may be what kills them. */
export const suspectTries = 2

/** Crashes of workers on which a run was the only suspect before it is quarantined, unless the engine says otherwise. */
export const defaultMaxCrashes = 5
