import { expect, test } from 'vitest'
import { uniqueCallIds } from '../src/unique-ids.ts'

test('a repeated id of a call gets a number that no other call has, and its results follow', () => {
  const of = (type: string, toolCallId: string) => ({ type, toolCallId })
  expect(
    uniqueCallIds([
      of('tool-call', 'a'),
      of('tool-call', 'a'),
      of('tool-result', 'a'),
      of('tool-call', 'a-2'),
      of('tool-call', 'a'),
    ]),
  ).toEqual([
    of('tool-call', 'a'),
    of('tool-call', 'a-3'),
    of('tool-result', 'a-3'),
    of('tool-call', 'a-2'),
    of('tool-call', 'a-4'),
  ])
})

test('the streamed input of a repeated id keeps the id of its call', () => {
  const input = (id: string) => [
    { type: 'tool-input-start', id },
    { type: 'tool-input-delta', id, delta: '{}' },
    { type: 'tool-input-end', id },
  ]
  const text = { type: 'text-delta', id: 'a', delta: 'hello' }
  const one = [...input('a'), { type: 'tool-call', toolCallId: 'a' }]
  const other = [...input('a-2'), { type: 'tool-call', toolCallId: 'a-2' }]
  expect(uniqueCallIds([text, ...one, ...one])).toEqual([text, ...one, ...other])
})
