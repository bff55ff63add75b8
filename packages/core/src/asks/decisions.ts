import type { AskKind, CommentRule, RiskLevel, Severity } from '../base/words.ts'
import type { AnswerPayload } from '../events/payloads.ts'

/** One way to answer an ask: a button, and how sure a person must be before it counts. */
export interface AskDecision {
  /** What is stored: 'approve' or 'reject', 'send' for an ask of kind 'input', else the value of a choice. */
  readonly value: string
  readonly label: string
  /** What follows from it, in words. */
  readonly effect?: string | undefined
  readonly style: 'primary' | 'danger' | 'plain'
  /** 'second': it is confirmed with a second act. 'word': its value has to be typed. */
  readonly confirm: 'none' | 'second' | 'word'
  /** 'required': an answer with this decision is refused without a comment. */
  readonly comment?: 'required' | undefined
}

/** What decisions follow from. */
interface Decidable {
  readonly kind: AskKind
  readonly choices: readonly {
    readonly value: string
    readonly label: string
    readonly effect?: string | undefined
    readonly style?: 'primary' | 'danger' | undefined
  }[]
  readonly risk?: { readonly level: RiskLevel } | undefined
  /** Of an approval. */
  readonly effects?: { readonly approve?: string; readonly reject?: string } | undefined
  readonly require?: CommentRule | undefined
}

/** Returns the decisions of an ask, in the order in which they are shown. Every channel and page draws these. */
export function decisionsOf(ask: Decidable): readonly AskDecision[] {
  return waysToAnswer(ask).map((one) =>
    needsComment(ask, one.value) ? { ...one, comment: 'required' as const } : one,
  )
}

function waysToAnswer(ask: Decidable): readonly AskDecision[] {
  const confirm = confirmOf(ask.risk?.level)
  switch (ask.kind) {
    case 'approve':
      return [
        { value: 'approve', label: 'Approve', ...effectOf(ask.effects?.approve), style: 'primary', confirm },
        {
          value: 'reject',
          label: 'Reject',
          ...effectOf(ask.effects?.reject),
          style: 'plain',
          confirm: 'none',
        },
      ]
    case 'input':
      return [{ value: 'send', label: 'Send', style: 'primary', confirm }]
    case 'review':
    case 'select':
    case 'escalate':
    case 'decide':
      return ask.choices.map((choice, index) => ({
        value: choice.value,
        label: choice.label,
        ...effectOf(choice.effect),
        style: choice.style ?? (isMain(ask, index) ? 'primary' : 'plain'),
        confirm: confirmOfChoice(ask, choice, confirm),
      }))
  }
}

function effectOf(effect: string | undefined): Pick<AskDecision, 'effect'> {
  return effect === undefined ? {} : { effect }
}

/** Whether a decision gives no consent. It may be taken without seeing all of the ask. */
export function isRefusal({ kind }: Pick<Decidable, 'kind'>, value: string): boolean {
  return value === 'reject' && (kind === 'approve' || kind === 'review')
}

/** Whether an answer with this decision must have a comment. */
export function needsComment(ask: Pick<Decidable, 'kind' | 'require'>, value: string): boolean {
  return ask.require === 'comment' || (ask.require === 'comment-on-reject' && isRefusal(ask, value))
}

/** The decision that an answer takes. */
export function decisionIn({ approved, choice }: AnswerPayload['answer']): string {
  return approved === undefined ? (choice ?? 'send') : approved ? 'approve' : 'reject'
}

/** Whether an ask is shown only to people who have proved who they are. */
export function isCritical(ask: {
  readonly risk?: { readonly level: RiskLevel } | undefined
  readonly severity?: Severity | undefined
}): boolean {
  return ask.risk?.level === 'critical' || ask.severity === 'critical'
}

function confirmOf(risk: RiskLevel | undefined): AskDecision['confirm'] {
  if (risk === 'critical') return 'word'
  return risk === 'high' ? 'second' : 'none'
}

/** Refusing a risky act is no risk, unless the author marks the refusal itself as dangerous. */
function confirmOfChoice(
  ask: Decidable,
  { value, style }: Decidable['choices'][number],
  byRisk: AskDecision['confirm'],
): AskDecision['confirm'] {
  if (style === 'danger') return byRisk === 'word' ? 'word' : 'second'
  return isRefusal(ask, value) ? 'none' : byRisk
}

/** The first choice of a review is its main one, unless the author names another. */
function isMain({ kind, choices }: Decidable, index: number): boolean {
  return kind === 'review' && index === 0 && !choices.some(({ style }) => style === 'primary')
}
