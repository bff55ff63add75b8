import type { Rule } from './options.ts'

/** Who said yes to a question. Only a person's yes is consent. */
type Consenter = 'person' | 'agent' | 'silence'

/** How an outcome changes what people have consented to. */
export type ConsentChange =
  | { readonly says: 'yes'; readonly question: Question; readonly by: Consenter }
  | { readonly says: 'no'; readonly question: Question }

/** A question, as rules name it. */
export interface Question {
  readonly key: string | null
  readonly message: string
}

interface Yes {
  readonly question: Question
  readonly by: Consenter
  /** Names of the steps that it has served. */
  readonly spent: readonly string[]
}

export interface Breach {
  readonly step: string
  readonly act: 'step'
  readonly rule: Rule
  readonly why: string
}

/** What people have consented to on a path, and the rules that its steps broke. */
export interface Consent {
  readonly yes: readonly Yes[]
  readonly breaches: readonly Breach[]
}

export const noConsent: Consent = { yes: [], breaches: [] }

/** A later no takes back a yes to the same question. */
export function applyChange(consent: Consent, change: ConsentChange | undefined): Consent {
  if (change === undefined) return consent
  if (change.says === 'yes')
    return { ...consent, yes: [...consent.yes, { question: change.question, by: change.by, spent: [] }] }
  return { ...consent, yes: consent.yes.filter((yes) => !isSame(yes.question, change.question)) }
}

/** Judges a step when it is issued: each yes of a person permits one step of each name. */
export function judgeStep(consent: Consent, rules: readonly Rule[], step: string): Consent {
  return rules.reduce(
    (before, rule) => (matches(rule.step, step) ? judge(before, rule, step) : before),
    consent,
  )
}

function judge(consent: Consent, rule: Rule, step: string): Consent {
  const fitting = consent.yes.filter((yes) => permits(rule, yes.question))
  const unspent = fitting.find((yes) => yes.by === 'person' && !yes.spent.includes(step))
  if (unspent === undefined)
    return { ...consent, breaches: [...consent.breaches, { step, act: 'step', rule, why: explain(fitting) }] }
  const spent = { ...unspent, spent: [...unspent.spent, step] }
  return { ...consent, yes: consent.yes.map((yes) => (yes === unspent ? spent : yes)) }
}

function explain(fitting: readonly Yes[]): string {
  if (fitting.some(({ by }) => by === 'person')) return 'one yes, two acts'
  if (fitting.some(({ by }) => by === 'agent')) return 'an agent said yes, and no person'
  if (fitting.length > 0) return 'no person answered, and silence counted as yes'
  return 'no person said yes'
}

function permits({ unless }: Rule, { key, message }: Question): boolean {
  if (unless === 'approved') return true
  const { ask } = unless
  if (typeof ask === 'string') return ask === key || message.includes(ask)
  return (key !== null && matches(ask, key)) || matches(ask, message)
}

function isSame(a: Question, b: Question): boolean {
  return a.key === null && b.key === null ? a.message === b.message : a.key === b.key
}

function matches(pattern: string | RegExp, text: string): boolean {
  return typeof pattern === 'string'
    ? pattern === text
    : new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(text)
}
