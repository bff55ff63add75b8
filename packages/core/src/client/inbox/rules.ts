import { type AnswerVerdict, mayAnswer } from '../../asks/rights.ts'
import type { Actor, Audience } from '../../base/people.ts'
import type { Ask } from '../views/views.ts'

/** A person, and the groups, roles and queues they are in. */
export interface Person {
  readonly as: Actor
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
    const who = { persons: [person.as], names: person.names, answersAll: false } as const
    const own = mayAnswer(ask, who, this.selfApproval)
    if (!own.ok) return own
    for (const rule of this.#added) {
      const verdict = rule(ask, person)
      if (!verdict.ok) return verdict
    }
    return own
  }
}
