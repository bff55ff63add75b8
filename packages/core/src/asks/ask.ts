import { askKinds, type RiskLevel, riskLevels, type Severity, severities } from '../base/words.ts'
import { PayloadCorrupt, WrittenLater } from '../events/codec.ts'
import { decode } from '../events/payload.ts'
import type { AnswerPayload, AskPayload, Silence } from '../events/payloads.ts'

const silences: readonly string[] = [
  'reject',
  'approve',
  'fail',
  'keep-waiting',
  'escalate',
  'default',
] satisfies Silence['do'][]

/** Decodes the payload of an ask into a new object. @throws PayloadCorrupt, WrittenLater */
export function readAskPayload(bytes: Uint8Array): AskPayload {
  const payload = (decode(bytes) ?? {}) as Partial<AskPayload>
  const { kind, message, silence, choices = [], error } = payload
  const isAsk =
    typeof kind === 'string' &&
    typeof message === 'string' &&
    typeof silence?.do === 'string' &&
    Array.isArray(choices) &&
    choices.every((choice) => typeof choice?.value === 'string') &&
    (error === undefined || typeof error?.message === 'string')
  if (!isAsk) throw new PayloadCorrupt('does not hold an ask')
  if (!askKinds.includes(kind)) throw new WrittenLater(`an ask of kind "${String(kind)}"`)
  if (!silences.includes(silence.do)) throw new WrittenLater(`an ask with the timeout "${silence.do}"`)
  return payload as AskPayload
}

/** Returns when the timeout closes the ask, or null if it stays open without a limit. */
export function closesAtOf({ dueAt, silence }: AskPayload): number | null {
  return dueAt === undefined || silence.do === 'escalate' || silence.do === 'keep-waiting' ? null : dueAt
}

/** Returns the audiences that may answer the ask, and the ones that also may once it is overdue. */
export function recipientsOf(
  to: readonly string[],
  { silence }: Pick<AskPayload, 'silence'>,
  engineEscalatesTo: string | undefined,
): { readonly to: readonly string[]; readonly escalateTo: readonly string[] } {
  const escalateTo = silence.do === 'escalate' ? (silence.to ?? engineEscalatesTo) : undefined
  return { to, escalateTo: escalateTo === undefined ? [] : [escalateTo] }
}

/** What the urgency of an ask follows from. */
interface Graded {
  readonly kind: AskPayload['kind']
  readonly risk?: AskPayload['risk'] | undefined
  readonly severity?: AskPayload['severity'] | undefined
}

/** Returns the urgency, 0 to 3: the higher of risk and severity. */
export function urgencyOf({ risk, severity, kind }: Graded): number {
  const level = risk === undefined ? 0 : riskLevels.indexOf((risk as { readonly level: RiskLevel }).level)
  const severe =
    severity === undefined ? (kind === 'escalate' ? 2 : 0) : severities.indexOf(severity as Severity)
  return Math.max(0, level, severe)
}

/** Returns the part of an answer that the author's schema covers. Null if the shown value came back unchanged. */
export function subjectOf(
  kind: string,
  { answer, changed }: Pick<AnswerPayload, 'answer' | 'changed'>,
): {
  readonly key: 'params' | 'value' | 'artifact'
  readonly value: unknown
} | null {
  // Even if the value was left empty.
  if (kind === 'input') return { key: 'value', value: answer.value }
  if (changed !== true) return null
  for (const key of ['params', 'artifact'] as const) if (key in answer) return { key, value: answer[key] }
  return null
}
