import { isEqual } from '../../base/equal.ts'
import type { Actor } from '../../base/people.ts'
import type { ErrorDetails } from '../../errors/error-details.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { consentNames, suffixOf } from '../../events/consent.ts'
import { decode, encode } from '../../events/payload.ts'
import type { Decision } from '../agent/agent.ts'
import { decision } from '../agent/context.ts'
import type { Approval, Section } from '../human/ask.ts'
import { approval } from '../human/context.ts'
import { askUnderFreeKey } from '../human/free-key.ts'
import { remarkOnAsk } from '../human/remarks.ts'
import type {
  AskOperation,
  AttemptMoment,
  BodyOperation,
  DecideOperation,
  IssueOperation,
} from '../operations.ts'
import type { Judgement } from '../policy/policy.ts'
import type { ProgramOptions } from '../program-options.ts'
import { type StepParts, stepOperation } from '../step/context.ts'
import { defaultPolicy } from '../step/options.ts'
import { type Action, isStricter, judge, policyStep } from '../step/policy-step.ts'
import type { StepCall } from '../step/step.ts'
import { Withheld } from '../step/withheld.ts'
import type { Gated, NotDone } from './gate.ts'
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
  readonly round: number
  readonly judgement: Judgement
  readonly params: object
  readonly by: Actor
  /** When an agent or a person agreed; null if the policy did. */
  readonly at: Date | null
  readonly facts: unknown
}

/** Why the action was not attempted, and what it would have acted on. */
interface Outdated extends Agreement {
  readonly why: ErrorDetails['consent-outdated']['why']
}

/** The result of the action, or why it was not attempted. */
type Outcome =
  | { readonly value: unknown }
  | { readonly outdated: ErrorDetails['consent-outdated']; readonly position: number }

/** Facts that were read as long ago, in ms, are read again before an attempt. */
const freshMs = 10_000

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
  /** Whether the verdict is of a generation that has failed: it is judged again when the action is attempted. */
  #isVerdictKept = false
  /** Whether an attempt of the action may have had its effect. */
  #isAttempted = false
  /** The position of the operation with which the action was first tried, if a later round acts. */
  #firstAct: number | undefined

  constructor(parts: GateParts, settings: GateSettings) {
    this.#parts = parts
    this.#gate = settings
  }

  /** `outdated`: the consent that did not hold when the action was to be attempted. */
  async pass(outdated?: Outdated): Promise<Gated<object, unknown>> {
    const judgement = outdated?.judgement ?? (await this.#judge())
    if (outdated === undefined || outdated.why === 'policy') this.#isVerdictKept = this.#parts.options.isKept
    const { verdict, by } = judgement
    if (verdict === 'deny') return this.#refused('denied', by)
    let params = outdated?.params ?? this.#gate.params()
    let reasons: Reasons = []
    for (let round = outdated === undefined ? 1 : outdated.round + 1; round <= maxRounds; round++) {
      const facts = await this.#readFacts()
      if (verdict === 'allow') return this.#act({ round, judgement, params, by, at: null, facts })
      if (round - 1 === outdated?.round) reasons = this.#reasonsOf(outdated, facts)
      const consent = await this.#obtain(verdict, round, params, facts, reasons)
      if (!consent.agreed) return this.#refused(consent.reason, consent.by)
      params = consent.params
      const now = await this.#readFacts()
      reasons = this.#doubts(consent, facts, now)
      if (reasons.length === 0)
        return this.#act({ round, judgement, params, by: consent.by, at: consent.at, facts: now })
    }
    return this.#refused('changing', 'policy:facts')
  }

  #refused(reason: NotDone['reason'], by: Actor): NotDone {
    return { done: false, reason, by, ...(this.#isAttempted ? { attempted: true } : {}) }
  }

  /** Returns what people see when they are asked again, because the action was not attempted. */
  #reasonsOf({ why, at, by, facts: before, judgement }: Outdated, facts: unknown): Reasons {
    const because = {
      facts: [],
      expired: at === null ? [] : [expiredSection(by, at)],
      policy: [againSection(`The verdict of the policy is now '${judgement.verdict}'.`)],
    }[why]
    const attempted = againSection('An earlier attempt of the action may have had its effect.')
    return [
      ...because,
      ...(this.#isAttempted ? [attempted] : []),
      ...(why === 'facts' ? [changeSection(before, facts)] : []),
      ...(why === 'facts' || facts === undefined ? [] : [factsSection('Facts', facts)]),
    ]
  }

  #judge(): Promise<Judgement> {
    const { issue, options } = this.#parts
    return issue(policyStep(options, this.#action)) as Promise<Judgement>
  }

  get #action(): Action {
    const { name, classes, params, policy } = this.#gate
    return { name, classes, params, own: policy }
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
    if (!isEqual(before, now)) return [changeSection(before, now)]
    if (validForMs === undefined || this.#parts.options.execution.now() - at.getTime() <= validForMs)
      return []
    return [expiredSection(by, at), ...(now === undefined ? [] : [factsSection('Facts', now)])]
  }

  async #act(agreement: Agreement): Promise<Gated<object, unknown>> {
    const { params, by, facts } = agreement
    const { name, run, undo, attempts } = this.#gate
    const { issue, options } = this.#parts
    // Each attempt gets its own copies: the procedure never sees what an attempt changes.
    const bytes = { params: encode(params, 'params'), facts: encode(facts, 'facts') }
    const act = options.effects.step(name, run)
    const body = (call: StepCall): unknown => act(decode(bytes.params), call, decode(bytes.facts))
    const operation = stepOperation(this.#parts, { name, body, policy: attempts, undo })
    const guarded = { ...operation, read: readerOf(operation), ...this.#guard(agreement, bytes) }
    const outcome = (await issue({ ...guarded, keyOf: this.#firstAct })) as Outcome
    if ('value' in outcome) return { done: true, value: outcome.value, params, by }
    const { why, attempted, verdict, by: judge } = outcome.outdated
    this.#firstAct ??= outcome.position
    this.#isAttempted ||= attempted
    return this.pass({ ...agreement, why, judgement: { verdict, by: judge as Judgement['by'] } })
  }

  /**
   * Returns the check before each attempt, if anything may not hold by then. A verdict is judged again in a retried run. The age of a yes
   * counts at the attempt. Facts are read again, unless this is the first attempt and they are fresh.
   */
  #guard(
    { judgement, at, facts: agreed }: Agreement,
    bytes: { facts: Uint8Array | null },
  ): Pick<BodyOperation, 'holds'> {
    const { name, facts, validForMs } = this.#gate
    const { options } = this.#parts
    const isVerdictKept = this.#isVerdictKept
    if (!isVerdictKept && facts === undefined && validForMs === undefined) return {}
    // A retry acts on what it has kept: on facts of then, and perhaps once more.
    const isRetried = options.isKept
    const read = facts && options.effects.step(consentNames.facts(name), facts)
    const holds = async ({ number, now, issuedAt }: AttemptMoment): Promise<void> => {
      const outdated = (why: Outdated['why'], { verdict, by }: Judgement): Withheld => {
        const attempted = number > 1 || isRetried
        return new Withheld(new PawlError('consent-outdated', { action: name, why, attempted, verdict, by }))
      }
      const judged = isVerdictKept ? await judge(options, this.#action) : judgement
      if (isStricter(judged.verdict, judgement.verdict)) throw outdated('policy', judged)
      if (at !== null && validForMs !== undefined && now - at.getTime() > validForMs)
        throw outdated('expired', judgement)
      if (read === undefined || (number === 1 && !isRetried && now - issuedAt <= freshMs)) return
      const present = encode(await read(), 'facts')
      if (judgement.verdict === 'allow') bytes.facts = present
      else if (!isEqual(agreed, decode(present))) throw outdated('facts', judgement)
    }
    return { holds }
  }
}

/** Reads the result of the action, or that it was not attempted. */
function readerOf({ read }: BodyOperation): BodyOperation['read'] {
  return (event): Outcome => {
    try {
      return { value: read(event) }
    } catch (error) {
      if (!PawlError.is(error, 'consent-outdated')) throw error
      return { outdated: error.details, position: event.position }
    }
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

function changeSection(before: unknown, now: unknown): Section {
  return factsSection('Facts, changed since', { before, now })
}

function againSection(body: string): Section {
  return { title: 'Asked again', body, as: 'text' }
}

function expiredSection(by: Actor, at: Date): Section {
  return againSection(`The yes of ${by} at ${at.toISOString()} has expired.`)
}
