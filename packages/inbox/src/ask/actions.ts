import type { Ask, Decision } from '@pawl/server/internal'
import { en } from '../en.ts'
import type { Act } from './draft.ts'

/** A button: its effect, and the confirmation it needs. */
export interface Action extends Pick<Decision, 'label' | 'style' | 'confirm'> {
  readonly act: Act
  /** The key that moves the focus to it. */
  readonly shortcut?: 'a' | 'r'
}

/** Draws the decisions of an ask. The engine says which there are and what each has to be confirmed by. */
export function actionsOf(ask: Ask, isEdited: boolean): readonly Action[] {
  return ask.decisions.map(({ value, label, style, confirm }, index) => ({
    act: actOf(ask, value),
    label: isEdited && value !== 'reject' ? editedLabel(ask, label) : label,
    style,
    confirm,
    ...(value === 'reject' ? { shortcut: 'r' as const } : index === 0 ? { shortcut: 'a' as const } : {}),
  }))
}

function actOf({ kind }: Ask, value: string): Act {
  if (kind === 'input') return { act: 'send' }
  if (kind === 'approve') return { act: value === 'approve' ? 'approve' : 'reject' }
  return { act: 'choose', choice: value }
}

function editedLabel({ kind }: Ask, label: string): string {
  if (kind === 'input') return label
  return kind === 'approve' ? en.approveEdited : en.withEdit(label)
}
