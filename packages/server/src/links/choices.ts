import type { Ask, AskDecision } from '@pawl/core'
import { isCritical } from '@pawl/core/internal'

/** The decisions that a link permits. For an ask of kind input, 'send' sends its data. */
export function choicesOf(
  { decisions }: Ask,
  { allow }: { readonly allow?: readonly string[] | undefined },
): readonly AskDecision[] {
  return allow === undefined ? decisions : decisions.filter(({ value }) => allow.includes(value))
}

/** A critical ask shows nothing before login. No option of a link changes that. */
export function needsLogin(ask: Ask, { login }: { readonly login?: boolean | undefined }): boolean {
  return login === true || isCritical(ask)
}
