import { expect, test } from 'vitest'
import { decisionsOf, isCritical, isRefusal } from '../../src/asks/decisions.ts'

const choices = [
  { value: 'approve', label: 'Keep' },
  { value: 'reject', label: 'Delete the draft', style: 'danger' },
] as const
const confirms = (ask: Parameters<typeof decisionsOf>[0]) =>
  decisionsOf(ask).map(({ value, confirm }) => [value, confirm])

test('an approval is confirmed by its risk, and a rejection is not', () => {
  const of = (level?: 'medium' | 'high' | 'critical') =>
    confirms({ kind: 'approve', choices: [], risk: level && { level } })
  expect(of()).toEqual([
    ['approve', 'none'],
    ['reject', 'none'],
  ])
  expect(of('medium')).toEqual([
    ['approve', 'none'],
    ['reject', 'none'],
  ])
  expect(of('high')).toEqual([
    ['approve', 'second'],
    ['reject', 'none'],
  ])
  expect(of('critical')).toEqual([
    ['approve', 'word'],
    ['reject', 'none'],
  ])
})

test('a choice that is marked as dangerous is confirmed, also if it refuses', () => {
  expect(confirms({ kind: 'review', choices })).toEqual([
    ['approve', 'none'],
    ['reject', 'second'],
  ])
  expect(confirms({ kind: 'review', choices, risk: { level: 'high' } })).toEqual([
    ['approve', 'second'],
    ['reject', 'second'],
  ])
  expect(confirms({ kind: 'review', choices, risk: { level: 'critical' } })).toEqual([
    ['approve', 'word'],
    ['reject', 'word'],
  ])
})

test('a choice named reject counts as a refusal only if it answers an approval or a review', () => {
  const plain = choices.map(({ value, label }) => ({ value, label }))
  expect(confirms({ kind: 'review', choices: plain, risk: { level: 'high' } })).toEqual([
    ['approve', 'second'],
    ['reject', 'none'],
  ])
  expect(confirms({ kind: 'select', choices: plain, risk: { level: 'high' } })).toEqual([
    ['approve', 'second'],
    ['reject', 'second'],
  ])
  expect(isRefusal({ kind: 'select' }, 'reject')).toBe(false)
})

test('data is sent with one decision, and the first choice of a review is its main one', () => {
  expect(decisionsOf({ kind: 'input', choices: [] })).toEqual([
    { value: 'send', label: 'Send', style: 'primary', confirm: 'none' },
  ])
  expect(decisionsOf({ kind: 'review', choices }).map(({ style }) => style)).toEqual(['primary', 'danger'])
  expect(decisionsOf({ kind: 'select', choices }).map(({ style }) => style)).toEqual(['plain', 'danger'])
})

test('an ask is critical by its risk or by its severity', () => {
  expect([
    isCritical({ risk: { level: 'critical' } }),
    isCritical({ severity: 'critical' }),
    isCritical({}),
  ]).toEqual([true, true, false])
})
