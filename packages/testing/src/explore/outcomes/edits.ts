import { type AskSpec, checkAnswer } from '@pawl/core/internal'

type Answer = object

/** Returns an answer as it is recorded; null if the question does not accept it. */
export async function accept(
  { payload, check }: AskSpec,
  answer: Answer,
): Promise<{ readonly answer: object; readonly changed: boolean } | null> {
  const checked = checkAnswer(payload, payload.require === undefined ? answer : { ...answer, comment: 'why' })
  if (!checked.ok) return null
  const { params, artifact, value, ...rest } = checked.answer
  const part = payload.kind === 'approve' ? params : payload.kind === 'input' ? value : artifact
  const isChecked = check !== undefined && (checked.changed || payload.kind === 'input')
  const validated = isChecked ? await check(part) : { ok: true as const, value: part }
  if (!validated.ok) return null
  const member = payload.kind === 'approve' ? 'params' : payload.kind === 'input' ? 'value' : 'artifact'
  const kept = part === undefined && payload.kind !== 'input' ? {} : { [member]: validated.value }
  return { answer: { ...rest, ...kept }, changed: checked.changed }
}

/** Lists other values of the same type, the likeliest to be accepted first. */
export function changesOf(value: unknown): readonly unknown[] {
  if (typeof value === 'number') return [...(value > 1 ? [Math.floor(value / 2)] : []), value + 1, value - 1]
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'string') return [`${value} (edited)`, value.slice(0, -1)]
  if (value instanceof Date) return [new Date(value.getTime() + 86_400_000)]
  if (Array.isArray(value)) return value.length === 0 ? [] : [value.slice(0, -1)]
  if (typeof value !== 'object' || value === null) return []
  const entries = Object.entries(value)
  const changed = entries.map(([key, member]) => [key, changesOf(member)[0] ?? member] as const)
  return entries.length === 0 ? [] : [Object.fromEntries(changed)]
}
