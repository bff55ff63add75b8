import { PawlError } from '@pawl/core'
import { expect, test } from 'vitest'
import { shortFailure } from '../src/runs/short-failure.ts'

test('the cause of a failed step comes first, in the words that the engine has for it', () => {
  const { code, message, name } = new PawlError('step-failed', {
    step: 'charge card',
    attempts: 3,
    cause: { name: 'Error', code: undefined, message: '402 card declined' },
  })
  expect(shortFailure({ code, message, name })).toBe('402 card declined · charge card')
})

test('a bug of a procedure is its error and its place, without advice', () => {
  const { code, message, name } = new PawlError('procedure-broken', {
    run: 'order:7',
    cause: { name: 'TypeError', code: undefined, message: 'x is not a function' },
    at: 'src/order.ts:7:3',
  })
  expect(shortFailure({ code, message, name })).toBe('TypeError: x is not a function (src/order.ts:7:3)')
})

test.each([
  ['TypeError', 'x is not a function'],
  ['Error', 'Step "a" failed after 1 attempt: no'],
])('any other message is shown as it is: %s', (name, message) => {
  expect(shortFailure({ name, message })).toBe(message)
})
