import type { Actor, Audience } from '../base/people.ts'
import type { Answer } from './views/views.ts'

/** An answer, or a decision by name: 'approve', 'reject', or a choice of the ask. */
export type ResumeResolution =
  | Answer
  | {
      readonly decision: string
      readonly params?: object
      readonly artifact?: unknown
      readonly comment?: string
    }

/** The options of `inbox.answer` and `resume`. */
export interface As {
  /** Person who answers, such as 'user:ana'. Pawl does not authenticate: the caller has. Range: begins with `user:`. */
  readonly as: Actor
  /**
   * The channel the answer came through, such as 'mail', kept with it for audits. Default: none. Range: 1 to 40 characters of
   * `a-z`, `0-9` and `-`.
   */
  readonly via?: string | undefined
  /** Who made the link that the person answered with, kept with the answer for audits. Default: none. Range: 1 to 200 characters. */
  readonly madeBy?: Actor | undefined
  /** Who gives the answer for the person in `as`, if another does, kept with it for audits. Default: none. Range: 1 to 200 characters. */
  readonly actedBy?: Actor | undefined
  /**
   * The `digest` of the ask as the person was shown it. If the question differs now, the answer is refused with 'ask-changed'. It is
   * recorded with the answer. Default: not compared.
   */
  readonly digest?: string | undefined
}

/** Who answers through a plug-in. */
export interface AnsweredBy extends As {
  /**
   * Groups, roles and queues of the one who acts, `actedBy` or else `as`. They decide with the name whether the ask is addressed to
   * them. Default: none.
   */
  readonly names?: readonly Audience[] | undefined
}
