import type { Ask, Json, LogEntry } from '@pawl/server/internal'
import { expect, test } from 'vitest'
import { editableOf, editOf, isForkable, readFork } from '../src/runs/repeat/edit.ts'

const entryOf = (type: string, result: Json, status: LogEntry['status'] = 'done'): LogEntry => ({
  ...{ position: 3, type, name: 'it', status, result },
  ...{ timestamp: '2026-01-01T00:00:00.000Z', duration_ms: 1 },
})

const askOf = (parts: Partial<Ask>): Ask => ({
  ...{
    id: 'run:1/3',
    digest: '',
    run: 'run:1',
    procedure: 'refund',
    position: 3,
    kind: 'approve',
    status: 'answered',
  },
  ...{
    message: 'Refund?',
    choices: [],
    decisions: [],
    to: [],
    askedAt: '2026-01-01T00:00:00.000Z',
    overdue: false,
  },
  ...{ editable: [], alternatives: [], details: [], links: [], history: [] },
  ...parts,
})

const forkOf = (entry: LogEntry, ask: Ask | null, change: Partial<ReturnType<typeof editOf>> = {}) =>
  readFork(
    { position: 3, checkpoint: null, isEdited: true, edit: { ...editOf(entry, ask), ...change } },
    entry,
    ask,
  )

test('a fork without an edit begins at the position itself, and one with an edit behind its result', () => {
  const entry = entryOf('step', { total: 12 })
  const draft = { position: 3, checkpoint: null, isEdited: false, edit: editOf(entry, null) }
  expect(readFork(draft, entry, null)).toEqual({ value: { position: 3 }, issues: [] })
  expect(readFork({ ...draft, checkpoint: '59daf73174fdab5c' }, entry, null).value).toEqual({
    checkpoint: '59daf73174fdab5c',
  })
  expect(forkOf(entry, null).value).toEqual({ position: 4, edit: { 3: { total: 12 } } })
})

test('the recorded result of each kind is what is edited: output, payload, answer', () => {
  const recorded = (entry: LogEntry) => JSON.parse(editOf(entry, null).json)
  expect(recorded(entryOf('llm', { output: 'yes', usage: [] }))).toBe('yes')
  expect(recorded(entryOf('signal', { name: 'paid', payload: { by: 'card' }, timed_out: false }))).toEqual({
    by: 'card',
  })
  const answered = {
    approved: true,
    changed: true,
    by: 'user:ana',
    via: 'inbox',
    responded_at: '',
    timed_out: false,
  }
  expect(recorded(entryOf('hitl_approval', answered))).toEqual({ approved: true })
})

test('what failed or timed out begins empty, and is refused as long as it is', () => {
  for (const entry of [
    entryOf('step', { error: { message: 'down' } }, 'failed'),
    entryOf('signal', { timed_out: true }),
    entryOf('hitl_input', { default: 3, responded_at: '', timed_out: true }),
  ]) {
    expect(editOf(entry, null).json).toBe('')
    expect(forkOf(entry, null)).toEqual({ value: null, issues: [{ path: 'json', message: 'is required' }] })
  }
})

test('only a result that an edit can replace is offered, and no place without a result of its own', () => {
  expect(['step', 'llm', 'signal', 'hitl_review'].map((type) => editableOf(entryOf(type, null)))).toEqual([
    ...['result', 'result', 'payload', 'answer'],
  ])
  for (const type of ['timer', 'child', 'spawn', 'send', 'checkpoint', 'hitl_notification', 'ail_decision'])
    expect(editableOf(entryOf(type, null))).toBeNull()
  expect(editableOf(entryOf('step', null, 'open'))).toBeNull()
  expect([
    isForkable(entryOf('step', null, 'open')),
    isForkable(entryOf('timer', null, 'withdrawn')),
    isForkable(entryOf('undo', null)),
  ]).toEqual([true, false, false])
})

test('an edited answer is whole, as the log has it: with the params and the artifact that were not edited', () => {
  const approval = askOf({
    ...{ params: { orderId: 'A-1', amount: 80 }, editable: ['amount'] },
    answer: { by: 'user:bob', at: '', approved: true, params: { orderId: 'A-1', amount: 60 } },
  })
  const entry = entryOf('hitl_approval', { approved: true })
  const behind = (answer: Json) => ({ position: 4, edit: { 3: answer } })
  expect(forkOf(entry, approval).value).toEqual(
    behind({ approved: true, params: { orderId: 'A-1', amount: 60 } }),
  )
  expect(forkOf(entry, approval, { approved: false }).value).toEqual(behind({ approved: false }))
  expect(forkOf(entry, approval, { approved: null }).issues).toEqual([
    { path: 'choice', message: 'is required' },
  ])
  const review = askOf({
    ...{ kind: 'review', artifact: 'the text', editable: ['artifact'] },
    answer: { by: 'user:bob', at: '', choice: 'approve', artifact: 'the text' },
  })
  expect(forkOf(entryOf('hitl_review', {}), review).value).toEqual(
    behind({ choice: 'approve', artifact: 'the text' }),
  )
})

test('an operation of the consent to an action is not edited, and can be forked at', () => {
  const entry = { ...entryOf('hitl_approval', { approved: true }), consent_to: 'wire' }
  expect(editableOf(entry)).toBeNull()
  expect(isForkable(entry)).toBe(true)
  expect(forkOf(entry, null).value).toEqual({ position: 3 })
})
