import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  checkArray,
  checkBoolean,
  checkFunction,
  checkInstant,
  checkKeys,
  checkName,
  checkNumber,
  checkObject,
  checkOneOf,
  checkSchema,
  checkText,
  checkWhole,
  refuse,
} from '../../src/checks/options.ts'
import { checkActor, checkAudience, readAudiences } from '../../src/checks/people.ts'
import { PawlError } from '../../src/index.ts'

test('names the option, the value and the allowed values in an error', () => {
  let caught: unknown
  try {
    refuse("retry.attempts of step 'charge'", -1, 'It must be a whole number from 1.')
  } catch (error) {
    caught = error
  }
  expect(PawlError.is(caught, 'option-invalid') && caught.details).toEqual({
    option: "retry.attempts of step 'charge'",
    given: '-1',
  })
  expect(caught).toHaveProperty(
    'message',
    "The option retry.attempts of step 'charge' cannot be -1. It must be a whole number from 1.",
  )
})

describe('unknown options', () => {
  test('rejects an unknown option and suggests the nearest one', () => {
    expect(() => checkKeys('approve', { timeOut: '1h' }, ['to', 'timeout', 'key'])).toThrow(
      'There is no option timeOut in approve. Did you mean timeout? Known options: to, timeout, key.',
    )
    expect(() => checkKeys('approve', { editabel: [] }, ['to', 'editable'])).toThrow('Did you mean editable?')
    expect(() => checkKeys('approve', { assignees: [] }, ['to', 'key'])).toThrow(
      'There is no option assignees in approve. Known options: to, key.',
    )
  })

  test('accepts known options, even if they are undefined', () => {
    expect(() => checkKeys('approve', { to: undefined }, ['to'])).not.toThrow()
    expect(() => checkKeys('approve', {}, [])).not.toThrow()
  })
})

const name = (value: unknown) => checkName('name', value)
const whole = (value: unknown) => checkWhole('n', value, 1, 500)
const anyWhole = (value: unknown) => checkWhole('n', value, 0, Number.MAX_SAFE_INTEGER)
const fraction = (value: unknown) => checkNumber('n', value, 0, 1)
const colour = (value: unknown) => checkOneOf('colour', value, ['red', 'blue'])
const audience = (value: unknown) => checkAudience('to', value)
const actor = (value: unknown) => checkActor('as', value)

test.each([
  [name, 'refund: größer 😀'],
  [name, 'x'.repeat(200)],
  [(value: unknown) => checkText('message', value), 'two\nlines'],
  [whole, 1],
  [whole, 500],
  [anyWhole, Number.MAX_SAFE_INTEGER],
  [fraction, 0],
  [fraction, 0.5],
  [colour, 'blue'],
  [(value: unknown) => checkBoolean('b', value), false],
  [(value: unknown) => checkInstant('at', value), new Date(0)],
  [(value: unknown) => checkArray('list', value), []],
  [(value: unknown) => checkObject('options', value), {}],
  [(value: unknown) => checkSchema('input', value), z.string()],
  [audience, 'user:ana'],
  [audience, 'queue:refunds/large'],
  [actor, 'agent:writer'],
  [actor, 'system:night'],
  [actor, 'user:two\u2028lines'],
  [audience, 'queue:a/two\u2029parts'],
])('accepts the valid value %# unchanged', (check, value) => {
  expect(check(value)).toBe(value)
})

const notEmpty = 'It must be a non-empty string.'
const audiences = "It must be 'user:<name>', 'group:<name>', 'role:<name>' or 'queue:<scope>/<name>'."
test.each([
  [name, '', notEmpty],
  [name, 7, notEmpty],
  [name, undefined, notEmpty],
  [name, 'x'.repeat(201), 'It must have at most 200 characters; it has 201.'],
  [name, 'two\nlines', 'It must not contain control characters.'],
  [name, 'nul\0', 'It must not contain control characters.'],
  [name, '\uD83D', 'It must be well-formed text: it contains an unpaired surrogate.'],
  [whole, 0, 'It must be a whole number from 1 to 500.'],
  [whole, 501, 'It must be a whole number from 1 to 500.'],
  [whole, 1.5, 'It must be a whole number from 1 to 500.'],
  [whole, Number.NaN, 'It must be a whole number from 1 to 500.'],
  [anyWhole, '3', 'It must be a whole number from 0.'],
  [fraction, 1.1, 'It must be a number from 0 to 1.'],
  [fraction, Number.NaN, 'It must be a number from 0 to 1.'],
  [fraction, '0.5', 'It must be a number from 0 to 1.'],
  [colour, 'green', "It must be one of 'red', 'blue'."],
  [(value: unknown) => checkBoolean('b', value), 'yes', 'It must be true or false.'],
  [(value: unknown) => checkInstant('at', value), new Date(Number.NaN), 'It must be a valid Date.'],
  [(value: unknown) => checkInstant('at', value), 0, 'It must be a valid Date.'],
  [(value: unknown) => checkArray('list', value), 'a', 'It must be an array.'],
  [(value: unknown) => checkObject('options', value), [], 'It must be an object.'],
  [(value: unknown) => checkObject('options', value), null, 'It must be an object.'],
  [(value: unknown) => checkFunction('body', value), {}, 'It must be a function.'],
  [(value: unknown) => checkSchema('input', value), { id: String }, 'It must follow Standard Schema'],
  [audience, 'ana', audiences],
  [audience, 'agent:writer', audiences],
  [audience, 'queue:refunds', audiences],
  [audience, 'queue:/large', audiences],
  [audience, 'user:', audiences],
  [audience, undefined, audiences],
  [actor, 'group:ops', "It must be 'user:<name>', 'agent:<name>', 'policy:<name>' or 'system:<name>'."],
  [actor, null, "It must be 'user:<name>', 'agent:<name>', 'policy:<name>' or 'system:<name>'."],
  [(value: unknown) => readAudiences('to', value), [], 'It must not be empty; omit it to ask everyone.'],
  [(value: unknown) => readAudiences('to', value), ['user:ana', 'bob'], audiences],
])('rejects the invalid value %# and says what is allowed', (check, value, allowed) => {
  expect(() => check(value)).toThrow(allowed)
})

test('treats omitted options as empty', () => {
  expect(checkObject('options', undefined)).toEqual({})
  expect(readAudiences('to', undefined)).toEqual([])
})

test('reads a single audience as a list, without duplicates', () => {
  expect(readAudiences('to', 'user:ana')).toEqual(['user:ana'])
  expect(readAudiences('to', ['user:ana', 'role:boss', 'user:ana'])).toEqual(['user:ana', 'role:boss'])
})
