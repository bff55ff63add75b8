import { PawlError } from '@pawl/core'
import type { DecideOperation, DecisionPayload } from '@pawl/core/internal'
import type { ConsentChange } from '../consent.ts'
import { isYes, person, questionOf, silenceOf } from './asks.ts'
import { brief, done, failing, type ListOutcomes, type Outcome } from './outcome.ts'

/** Lists each choice of the agent, and what its fallback makes of an agent that cannot decide. */
export const listDecideOutcomes: ListOutcomes<DecideOperation> = ({ operation, issuedAt }, { now }) => {
  const { question, choices, agentName, fallback, name } = operation
  const asked = { key: name === 'decide' ? null : name, message: question }
  const decided = (choice: string, made: Omit<DecisionPayload, 'choice' | 'rationale' | 'at' | 'usage'>) =>
    ({ choice, rationale: '', at: now, usage: [], ...made }) satisfies DecisionPayload
  const byAgent = choices.map((choice): Outcome => {
    const consent: ConsentChange = { says: 'yes', question: asked, by: 'agent' }
    const payload = decided(choice, { source: 'agent', why: 'decided', by: `agent:${agentName}` })
    return {
      ...done(`${brief(question)}: the agent says ${choice}`, payload),
      ...(isYes(choice) ? { consent } : {}),
    }
  })
  return [...byAgent, ...fallBack()]

  function fallBack(): readonly Outcome[] {
    const failed = `${brief(question)}: the agent fails`
    switch (fallback.do) {
      case 'choose': {
        const payload = decided(fallback.choice, { source: 'fallback', why: 'failed', by: 'policy:fallback' })
        return [done(`${failed}, so ${fallback.choice}`, payload)]
      }
      case 'fail': {
        const cause = { name: 'Error', message: fallback.message, code: undefined }
        const error = new PawlError('step-failed', { step: question, attempts: operation.attempts, cause })
        return [failing(failed, error)]
      }
      case 'ask': {
        const { ask } = fallback
        const judged = { why: 'failed', rationale: 'explored', usage: [] } as const
        const byPeople = choices.map((choice): Outcome => {
          const says = isYes(choice) ? ({ says: 'yes', by: 'person' } as const) : ({ says: 'no' } as const)
          const payload = decided(choice, { source: 'person', why: 'failed', by: person, judged })
          return {
            ...done(`${failed}, and a person says ${choice}`, payload),
            consent: { ...says, question: { ...asked, key: asked.key ?? questionOf(ask).key } },
          }
        })
        const silence = silenceOf(ask, issuedAt)
        return silence === null ? byPeople : [...byPeople, silence]
      }
    }
  }
}
