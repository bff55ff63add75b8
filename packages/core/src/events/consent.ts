import type { PolicyVerdict } from '../base/words.ts'
import type { FailureRecord } from '../errors/failure.ts'
import type { LogEvent, OperationKind } from './event.ts'
import { decode } from './payload.ts'
import type { AnswerPayload, DecisionPayload, TimedOutPayload } from './payloads.ts'

// The operations of a gate, and of a task of a plan that is checked, have names by which a log shows what belongs together:
// the action has the name itself.

/** The names of the operations that come before an action. */
export const consentNames = {
  policy: (action: string): string => `${action} · policy`,
  facts: (action: string): string => `${action} · facts`,
  decide: (action: string, round = 1): string => `${action} · decide${suffixOf(round)}`,
  approve: (action: string, round = 1): string => `${action} · approve${suffixOf(round)}`,
} as const

/** Distinguishes the questions of later rounds. */
export function suffixOf(round: number): string {
  return round === 1 ? '' : ` ~${round}`
}

/** The consent questions of one action, and what became of them. */
interface Consents {
  /** The position of each question with a yes, in the order of the answers. */
  readonly yes: number[]
  /** The number of times the action was carried out. */
  acts: number
  /** The number of questions asked by an agent's decision, and by people after one. */
  readonly rounds: Map<string, { decided: number; passedOn: number; approvals: Set<number> }>
}

const question = /^(.+) · (approve|decide)(?: ~(\d+))?$/su
const reading = /^(.+) · (policy|facts)$/su

/** Returns the action to whose consent an operation belongs; null if it belongs to none. */
export function consentedAction(kind: OperationKind, name: string): string | null {
  const found = kind === 'step' ? reading.exec(name) : isQuestion(kind) ? question.exec(name) : null
  return found?.[1] ?? null
}

function isQuestion(kind: OperationKind): boolean {
  return kind === 'hitl_approval' || kind === 'ail_decision'
}

/**
 * Returns the number of events, at most `end`, that a copy of the log may have so that no yes in it is used again. If a yes is
 * among the first `end` events and its action is not, the copy ends before the question.
 * @throws PayloadCorrupt
 */
export function endBeforeUnusedYes(events: readonly LogEvent[], end: number): number {
  for (let safe = end; ; ) {
    const unused = findUnusedYes(events.slice(0, safe))
    if (unused === undefined) return safe
    safe = events.findIndex(({ position }) => position === unused)
  }
}

/** Returns the position of the latest question whose yes may not have been used. */
function findUnusedYes(events: readonly LogEvent[]): number | undefined {
  const unused = [...gather(events).values()].flatMap(({ yes, acts, rounds }) => {
    // A question of a later round means that an earlier yes was not acted on.
    const repeated = [...rounds.values()].reduce(
      (sum, { decided, passedOn, approvals }) => sum + decided + Math.max(0, approvals.size - passedOn),
      0,
    )
    return yes.length > acts + repeated ? yes.slice(-1) : []
  })
  return unused.length === 0 ? undefined : Math.min(...unused)
}

/** Gathers the consents of each action. A step counts as the action only after a yes: a step before it has the same name by chance. */
function gather(events: readonly LogEvent[]): ReadonlyMap<string, Consents> {
  const actions = new Map<string, Consents>()
  for (const event of events) {
    if (event.type === 'settled' && event.kind === 'step' && !isWithheld(event))
      countAct(actions.get(event.name), event.position)
    const [, action, how, round] = question.exec(event.name) ?? []
    if (action === undefined) continue
    const consents: Consents = actions.get(action) ?? { yes: [], acts: 0, rounds: new Map() }
    actions.set(action, consents)
    if (round !== undefined) countRound(consents, round, how === 'decide', event)
    if (isYes(event)) consents.yes.push(event.position)
  }
  return actions
}

function countAct(consents: Consents | undefined, position: number): void {
  if (consents?.yes.some((asked) => asked < position) === true) consents.acts++
}

function countRound({ rounds }: Consents, round: string, isDecision: boolean, event: LogEvent): void {
  const counted = rounds.get(round) ?? { decided: 0, passedOn: 0, approvals: new Set() }
  rounds.set(round, counted)
  if (!isDecision) counted.approvals.add(event.position)
  else if (event.type === 'settled') {
    counted.decided++
    if (!event.failed && choiceOf(event) === 'ask-human') counted.passedOn++
  }
}

function isYes(event: LogEvent): boolean {
  if (event.type !== 'settled' || event.failed) return false
  if (event.kind === 'ail_decision') return choiceOf(event) === 'approve'
  if (event.kind !== 'hitl_approval') return false
  const result = decode(event.payload) as AnswerPayload | TimedOutPayload
  return 'timedOut' in result ? result.approved === true : result.answer.approved === true
}

function choiceOf(event: LogEvent): string {
  return (decode(event.payload) as DecisionPayload).choice
}

// ── verdicts

/** The verdicts on one action, and what became of them. */
interface Verdicts {
  /** The position of each verdict that lets the action continue, in the order of the log. */
  readonly passed: number[]
  /** The number of times that the action was carried out or refused behind a verdict. */
  concluded: number
}

/**
 * Returns the position of the latest verdict of a policy behind which the action was neither carried out nor refused: a copy of the log
 * that kept it would act on a verdict of another time, and on facts of then.
 * @param original the events of which `kept` is a part; they show questions that the copy asks again
 * @throws PayloadCorrupt
 */
export function findUnusedVerdict(
  kept: readonly LogEvent[],
  original: readonly LogEvent[],
): number | undefined {
  const verdicts = new Map<string, Verdicts>()
  const isAsking = questionsIn(original)
  const of = (action: string): Verdicts => {
    const found = verdicts.get(action) ?? { passed: [], concluded: 0 }
    verdicts.set(action, found)
    return found
  }
  for (const event of kept) {
    if (event.type !== 'settled' || event.kind === null) continue
    const action = consentedAction(event.kind, event.name)
    if (action === null) {
      const acted = event.kind === 'step' ? verdicts.get(event.name) : undefined
      if (acted?.passed.some((judged) => judged < event.position) === true && !isWithheld(event))
        acted.concluded++
    } else if (event.name === consentNames.policy(action)) {
      if (lets(event, isAsking.has(action))) of(action).passed.push(event.position)
    } else if (refuses(event)) of(action).concluded++
  }
  for (const action of withdrawnIn(kept, original)) of(action).concluded++
  const unused = [...verdicts.values()].flatMap(({ passed, concluded }) =>
    passed.length > concluded ? passed.slice(-1) : [],
  )
  return unused.length === 0 ? undefined : Math.min(...unused)
}

/** Returns the actions of gates that ask, or read facts: a step with `classes` fails with the verdict of its policy instead. */
function questionsIn(events: readonly LogEvent[]): ReadonlySet<string> {
  const asking = events.flatMap(({ kind, name }) => {
    const action = kind === null ? null : consentedAction(kind, name)
    return action === null || name === consentNames.policy(action) ? [] : [action]
  })
  return new Set(asking)
}

/** Whether the action continues behind a verdict. */
function lets({ failed, payload }: LogEvent, isAsking: boolean): boolean {
  if (failed) return false
  const { verdict } = decode(payload) as { readonly verdict: PolicyVerdict }
  return verdict === 'allow' || (isAsking && verdict !== 'deny')
}

/** Whether a reading of facts has failed, or an agent or a person has not agreed. */
function refuses(event: LogEvent): boolean {
  if (event.failed) return true
  if (event.kind === 'ail_decision') return choiceOf(event) === 'reject'
  return event.kind === 'hitl_approval' && !isYes(event)
}

/** Returns the action of each question that was withdrawn before the first result that is not kept: its gate has lost a race. */
function withdrawnIn(kept: readonly LogEvent[], original: readonly LogEvent[]): readonly string[] {
  const seqs = new Set(kept.map(({ seq }) => seq))
  const cut = original.findIndex(({ type, seq }) => type === 'settled' && !seqs.has(seq))
  const before = cut === -1 ? original : original.slice(0, cut)
  return before.flatMap(({ type, kind, name }) =>
    type === 'withdrawn' && kind !== null ? (consentedAction(kind, name) ?? []) : [],
  )
}

/** Whether an attempt was withheld, because the consent did not hold any more. */
function isWithheld({ failed, payload }: LogEvent): boolean {
  return failed && (decode(payload) as FailureRecord).code === 'consent-outdated'
}
