/**
 * Warns of a harmless mistake, once for each `about` of a procedure; silent during replay.
 * The message is preceded by the procedure's name and the location of the call.
 * @example remark('{amount} of approve', 'the message contains {amount} without a value')
 */
export type Remark = (about: string, message: string) => void
