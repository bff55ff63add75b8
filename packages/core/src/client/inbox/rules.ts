import { type AnswerVerdict, mayAnswer } from '../../asks/rights.ts'
import type { Actor, Audience } from '../../base/people.ts'
import type { Ask } from '../views/views.ts'

/** Who gives an answer. */
export interface Person {
  /** The person who is recorded with the answer. */
  readonly as: Actor
  /** Who made the link that the answer came through. */
  readonly madeBy?: Actor | undefined
  /** Who acts for the person, if another does. */
  readonly actedBy?: Actor | undefined
  /** The groups, roles and queues of the one who acts. */
  readonly names: readonly Audience[]
}

/** A rule that a server has been given. */
export type AnswerRule = (ask: Ask, person: Person) => AnswerVerdict

/** The rules by which the plug-ins of an engine accept answers: its own, and those of the servers of the engine. */
export class AnswerRules {
  readonly selfApproval: boolean
  readonly #added = new Set<AnswerRule>()

  constructor(selfApproval: boolean) {
    this.selfApproval = selfApproval
  }

  /** Adds a rule. Returns a function that removes it. */
  add(rule: AnswerRule): () => void {
    this.#added.add(rule)
    return () => this.#added.delete(rule)
  }

  judge(ask: Ask, person: Person): AnswerVerdict {
    const { as, madeBy, actedBy = as, names } = person
    const persons = [as, ...(madeBy === undefined ? [] : [madeBy]), actedBy] as const
    const own = mayAnswer(ask, { persons, names, answersAll: false }, this.selfApproval)
    if (!own.ok) return own
    for (const rule of this.#added) {
      const verdict = rule(ask, person)
      if (!verdict.ok) return verdict
    }
    return own
  }
}
