/**
 * Warns of a mistake that harms nothing, once for each `about` of a procedure; silent while replaying. The message gets
 * the procedure's name and the place of the call in front of it.
 * @example remark('{amount} of approve', 'the message has {amount}, and no value for it')
 */
export type Remark = (about: string, message: string) => void
