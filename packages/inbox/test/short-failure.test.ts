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

test.each([
  ['TypeError', 'x is not a function'],
  ['Error', 'Step "a" failed after 1 attempt: no'],
])('any other message is shown as it is: %s', (name, message) => {
  expect(shortFailure({ name, message })).toBe(message)
})
