import type { Ask } from '@pawl/server/internal'
import { expect, test } from 'vitest'
import { commentNote, emptyDraft, readAnswer } from '../src/ask/draft.ts'

const askOf = (...required: readonly string[]): Ask => ({
  ...{ id: 'a', digest: '', run: 'run:1', procedure: 'refund', position: 3, kind: 'approve', status: 'open' },
  ...{ message: 'Refund?', choices: [], to: [], askedAt: '2026-01-01T00:00:00.000Z', overdue: false },
  ...{ editable: [], alternatives: [], details: [], links: [], history: [] },
  decisions: ['approve', 'reject'].map((value) => ({
    ...{ value, label: value, style: 'plain', confirm: 'none' },
    ...(required.includes(value) ? { comment: 'required' } : {}),
  })),
})

test('an answer without a required comment has an issue, and its draft is kept', () => {
  const ask = askOf('reject')
  expect(readAnswer(ask, emptyDraft, { act: 'reject' })).toEqual({
    value: { approved: false },
    issues: [{ path: 'comment', message: 'A comment is required: say why.' }],
  })
  expect(readAnswer(ask, emptyDraft, { act: 'approve' }).issues).toEqual([])
  expect(readAnswer(ask, { ...emptyDraft, comment: 'in use' }, { act: 'reject' })).toEqual({
    value: { approved: false, comment: 'in use' },
    issues: [],
  })
})

test('the label of the comment says for which decisions it is required', () => {
  expect(commentNote(askOf())).toBe('Optional')
  expect(commentNote(askOf('reject'))).toBe('Required for: reject')
  expect(commentNote(askOf('approve', 'reject'))).toBe('Required')
})
