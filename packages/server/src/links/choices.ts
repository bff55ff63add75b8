import type { Ask } from '@pawl/core'
import type { SignedLink } from '@pawl/core/internal'
import type { LinkChoice } from './page.ts'

const consent: readonly LinkChoice[] = [
  { value: 'approve', label: 'Approve', style: 'primary' },
  { value: 'reject', label: 'Reject' },
]

const data: readonly LinkChoice[] = [{ value: 'send', label: 'Send', style: 'primary' }]

/** The answers that a link permits. For an ask of kind input, 'send' sends its data. */
export function choicesOf(
  ask: Ask,
  { allow }: { readonly allow?: readonly string[] | undefined },
): readonly LinkChoice[] {
  const all = ask.kind === 'input' ? data : ask.kind === 'approve' ? consent : ask.choices
  return allow === undefined ? all : all.filter(({ value }) => allow.includes(value))
}

/** A critical ask shows nothing before login, whatever the link says. */
export function needsLogin({ risk, severity }: Ask, { login }: Pick<SignedLink, 'login'>): boolean {
  return login === true || risk?.level === 'critical' || severity === 'critical'
}

/** Rejecting a dangerous act is no danger, so only the other answers to an approval are confirmed. */
export function needsConfirmation({ kind, risk }: Ask, { value, style }: LinkChoice): boolean {
  if (style === 'danger') return true
  const isDangerous = risk?.level === 'high' || risk?.level === 'critical'
  return isDangerous && !(kind === 'approve' && value === 'reject')
}
