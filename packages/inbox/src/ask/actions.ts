import type { Ask, Choice } from '../api/types.ts'
import { en } from '../en.ts'
import type { Act } from './draft.ts'

/** What a button does, and how sure a person must be. */
export interface Action {
  readonly act: Act
  readonly label: string
  readonly style: 'primary' | 'danger' | 'plain'
  /** 'second': one more act. 'word': the label has to be typed. */
  readonly confirm: 'none' | 'second' | 'word'
  /** The key that moves the focus to it. */
  readonly shortcut?: 'a' | 'r'
}

export function actionsOf(ask: Ask, isEdited: boolean): readonly Action[] {
  const approve = { act: 'approve' } as const
  switch (ask.kind) {
    case 'approve':
      return [
        {
          act: approve,
          label: isEdited ? en.approveEdited : en.approve,
          style: 'primary',
          confirm: riskConfirm(ask),
          shortcut: 'a',
        },
        { act: { act: 'reject' }, label: en.reject, style: 'plain', confirm: 'none', shortcut: 'r' },
      ]
    case 'input':
      return [
        { act: { act: 'send' }, label: en.send, style: 'primary', confirm: riskConfirm(ask), shortcut: 'a' },
      ]
    case 'review':
    case 'select':
    case 'escalate':
    case 'decide':
      return ask.choices.map((choice, index) => choiceAction(ask, choice, index, isEdited))
  }
}

function choiceAction(ask: Ask, choice: Choice, index: number, isEdited: boolean): Action {
  const isNo = choice.value === 'reject'
  const hasPrimary = ask.choices.some(({ style }) => style === 'primary')
  const isPrimary =
    choice.style === 'primary' ||
    (!hasPrimary && ask.kind === 'review' && index === 0 && choice.style !== 'danger')
  const label = isEdited && !isNo ? en.withEdit(choice.label) : choice.label
  const confirm = choice.style === 'danger' && ask.risk?.level !== 'critical' ? 'second' : riskConfirm(ask)
  return {
    act: { act: 'choose', choice: choice.value },
    label,
    style: choice.style === 'danger' ? 'danger' : isPrimary ? 'primary' : 'plain',
    confirm: isNo ? 'none' : confirm,
    ...(isNo ? { shortcut: 'r' as const } : index === 0 ? { shortcut: 'a' as const } : {}),
  }
}

function riskConfirm({ risk }: Ask): Action['confirm'] {
  if (risk?.level === 'critical') return 'word'
  return risk?.level === 'high' ? 'second' : 'none'
}
