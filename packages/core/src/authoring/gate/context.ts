import { isEqual } from '../../base/equal.ts'
import type { Actor } from '../../base/people.ts'
import { consentNames, suffixOf } from '../../events/consent.ts'
import { decode, encode } from '../../events/payload.ts'
import type { Decision } from '../agent/agent.ts'
import { decision } from '../agent/context.ts'
import type { Approval, Section } from '../human/ask.ts'
import { approval } from '../human/context.ts'
import { askUnderFreeKey } from '../human/free-key.ts'
import { remarkOnAsk } from '../human/remarks.ts'
import type { AskOperation, DecideOperation, IssueOperation } from '../operations.ts'
import type { Judgement } from '../policy/policy.ts'
import { policyStep } from '../policy/policy-step.ts'
import type { ProgramOptions } from '../program-options.ts'
import { type StepParts, stepOperation } from '../step/context.ts'
import { defaultPolicy } from '../step/options.ts'
import type { StepCall } from '../step/step.ts'
import type { Gated } from './gate.ts'
import { type GateSettings, gateChoices, readGate } from './options.ts'

/** After as many rounds in which the facts have changed, a gate gives up. */
const maxRounds = 3

/** The parts of a `ctx` that gates use. */
export interface GateParts extends StepParts {
  /** Issues a question, whose key must be free. */
  readonly ask: IssueOperation
}

/** What an agent or a person said. */
type Consent =
  | { readonly agreed: true; readonly params: object; readonly by: Actor; readonly at: Date }
  | { readonly agreed: false; readonly reason: 'rejected' | 'timed-out'; readonly by: Actor }

/** What is acted on. */
interface Agreement {
  readonly params: object
  readonly by: Actor
  readonly facts: unknown
}

/** Why a question is asked again, as sections that people see. */
type Reasons = readonly Section[]

/** Asks for consent, and acts. The order of its operations is part of every log that has one. */
export function gate(parts: GateParts, name: unknown, given: unknown): Promise<Gated<object, unknown>> {
  const settings = readGate(name, given)
  // Built once now, so that wrong options are refused by the call.
  approvalOf(settings, { round: 1, key: settings.human.key, params: settings.params(), sections: [] })
  if (settings.agent !== null) decisionOf(parts.options, settings, 1, undefined)
  parts.actions.names ??= new Set()
  parts.actions.names.add(settings.name)
  return new Gating(parts, settings).pass()
}

class Gating {
  readonly #parts: GateParts
  readonly #gate: GateSettings

  constructor(parts: GateParts, settings: GateSettings) {
    this.#parts = parts
    this.#gate = settings
  }

  async pass(): Promise<Gated<object, unknown>> {
    const { verdict, by } = await this.#judge()
    if (verdict === 'deny') return { done: false, reason: 'denied', by }
    let params = this.#gate.params()
    let reasons: Reasons = []
    for (let round = 1; round <= maxRounds; round++) {
      const facts = await this.#readFacts()
      if (verdict === 'allow') return this.#act({ params, by, facts })
      const consent = await this.#obtain(verdict, round, params, facts, reasons)
      if (!consent.agreed) return { done: false, reason: consent.reason, by: consent.by }
      params = consent.params
      const now = await this.#readFacts()
      reasons = this.#doubts(consent, facts, now)
      if (reasons.length === 0) return this.#act({ params, by: consent.by, facts: now })
    }
    return { done: false, reason: 'changing', by: 'policy:facts' }
  }

  #judge(): Promise<Judgement> {
    const { name, classes, params, policy } = this.#gate
    const { issue, options } = this.#parts
    return issue(policyStep(options, { name, classes, params, own: policy })) as Promise<Judgement>
  }

  async #readFacts(): Promise<unknown> {
    const { name, facts } = this.#gate
    if (facts === undefined) return undefined
    const { issue, options } = this.#parts
    const reading = consentNames.facts(name)
    const body = options.effects.step(reading, facts)
    return issue(stepOperation(this.#parts, { name: reading, body, policy: defaultPolicy, undo: undefined }))
  }

  /** Asks the agent, if one may agree; then people. */
  async #obtain(
    verdict: 'agent' | 'human',
    round: number,
    params: object,
    facts: unknown,
    reasons: Reasons,
  ): Promise<Consent> {
    const { options, ask } = this.#parts
    const shown = facts === undefined || reasons.length > 0 ? reasons : [factsSection('Facts', facts)]
    if (verdict === 'human' || (this.#gate.agent === null && options.decider === undefined))
      return this.#askPeople(round, params, shown)
    const material = { params, facts }
    const { choice, by, rationale } = (await ask(
      decisionOf(options, this.#gate, round, material),
    )) as Decision<string>
    if (choice === 'approve') return { agreed: true, params, by, at: new Date(options.execution.now()) }
    if (choice === 'reject') return { agreed: false, reason: 'rejected', by }
    const why: Reasons =
      rationale === '' ? [] : [{ title: `Assessment by ${by}`, body: rationale, as: 'text' }]
    return this.#askPeople(round, params, [...why, ...shown])
  }

  async #askPeople(round: number, params: object, sections: Reasons): Promise<Consent> {
    const { key: wanted, hasOwnKey } = this.#gate.human
    const { ask, options } = this.#parts
    const issue = (key: string): Promise<Approval<object>> => {
      const operation = approvalOf(this.#gate, { round, key, params, sections })
      remarkOnAsk(options, operation, this.#gate.human.message, { ...this.#gate.human.options, params })
      return ask(operation) as Promise<Approval<object>>
    }
    const key = `${wanted}${suffixOf(round)}`
    const answer = await (hasOwnKey ? issue(key) : askUnderFreeKey(key, issue))
    if (answer.approved) return { agreed: true, params: answer.params, by: answer.by, at: answer.at }
    return {
      agreed: false,
      reason: answer.timedOut ? 'timed-out' : 'rejected',
      by: answer.by ?? 'policy:on-timeout',
    }
  }

  /** Returns why a yes does not count any more. */
  #doubts({ by, at }: Consent & { readonly agreed: true }, before: unknown, now: unknown): Reasons {
    const { validForMs } = this.#gate
    if (!isEqual(before, now)) return [factsSection('Facts, changed since', { before, now })]
    if (validForMs === undefined || this.#parts.options.execution.now() - at.getTime() <= validForMs)
      return []
    const body = `The yes of ${by} at ${at.toISOString()} has expired.`
    return [
      { title: 'Asked again', body, as: 'text' },
      ...(now === undefined ? [] : [factsSection('Facts', now)]),
    ]
  }

  async #act({ params, by, facts }: Agreement): Promise<Gated<object, unknown>> {
    const { name, run, undo, attempts } = this.#gate
    const { issue, options } = this.#parts
    // Each attempt gets its own copies: the procedure never sees what an attempt changes.
    const bytes = { params: encode(params, 'params'), facts: encode(facts, 'facts') }
    const act = options.effects.step(name, run)
    const body = (call: StepCall): unknown => act(decode(bytes.params), call, decode(bytes.facts))
    const value = await issue(stepOperation(this.#parts, { name, body, policy: attempts, undo }))
    return { done: true, value, params, by }
  }
}

interface AskedRound {
  readonly round: number
  readonly key: string
  readonly params: object
  /** What people see beside the details that the author has set. */
  readonly sections: readonly Section[]
}

function approvalOf(
  { name, human }: GateSettings,
  { round, key, params, sections }: AskedRound,
): AskOperation {
  const { details = [] } = human.options
  const all: unknown = Array.isArray(details) ? [...(details as unknown[]), ...sections] : details
  const operation = approval(
    human.message,
    { ...human.options, details: all, key, params },
    `of gate '${name}'`,
  )
  return { ...operation, name: consentNames.approve(name, round) }
}

function decisionOf(
  services: ProgramOptions,
  { name, agent }: GateSettings,
  round: number,
  material: unknown,
): DecideOperation {
  const { question, options } = agent ?? { question: `${name}?`, options: { fallback: 'ask-human' } }
  const operation = decision(question, gateChoices, { ...options, material }, services)
  return { ...operation, name: consentNames.decide(name, round) }
}

function factsSection(title: string, body: unknown): Section {
  return { title, body, as: 'json' }
}
