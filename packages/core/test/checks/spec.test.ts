import { describe, expect, test } from 'vitest'
import { checkBoolean, checkName } from '../../src/checks/options.ts'
import {
  anything,
  milliseconds,
  number,
  oneOf,
  optional,
  readOptions,
  readPart,
  required,
  type Spec,
  whole,
} from '../../src/checks/spec.ts'

interface Options {
  readonly id: string
  readonly wait?: string
  readonly limit?: number
  readonly rate?: number
  readonly order?: 'up' | 'down'
  readonly loud?: boolean
  readonly extra?: unknown
}

const spec = {
  id: required(checkName),
  wait: optional(milliseconds),
  limit: optional(whole(1, 500), 50),
  rate: optional(number(0), null),
  order: optional(oneOf(['up', 'down']), 'up'),
  loud: optional(checkBoolean),
  extra: optional(anything, undefined),
} satisfies Spec<Options>

const read = (given?: unknown) => readOptions('of search', given, spec)

describe('options with a spec', () => {
  test('are read by their rows', () => {
    const given = { id: 'a', wait: '2s', limit: 7, rate: 0.5, order: 'down', loud: true, extra: [1] }
    expect(read(given)).toEqual({ ...given, wait: 2_000 })
  })

  test('have their defaults, or are left out, if they are omitted or undefined', () => {
    const read1 = read({ id: 'a', wait: undefined, limit: undefined })
    expect(read1).toStrictEqual({ id: 'a', limit: 50, rate: null, order: 'up', extra: undefined })
    expect(Object.keys(read1)).not.toContain('wait')
  })

  test.each([
    [undefined, 'The option id of search cannot be undefined. It must be a non-empty string.'],
    [null, 'The option options of search cannot be null. It must be an object.'],
    [
      { id: 'a', limit: 0 },
      'The option limit of search cannot be 0. It must be a whole number from 1 to 500.',
    ],
    [{ id: 'a', rate: -1 }, 'The option rate of search cannot be -1. It must be a number from 0.'],
    [{ id: 'a', order: 'x' }, "The option order of search cannot be 'x'. It must be one of 'up', 'down'."],
    [{ id: 'a', wait: 5 }, '(wait of search)'],
    [
      { id: 'a', limits: 5 },
      'There is no option limits in the options of search. Did you mean limit? Known options: id, wait, limit, rate, order, loud, extra.',
    ],
    [{ id: 'a', toString: 1 }, 'There is no option toString in the options of search.'],
  ])('rejects %j', (given, message) => {
    expect(() => read(given)).toThrow(message)
  })

  test('accept what an object inherits, and read it', () => {
    expect(read(Object.create({ id: 'a', more: 1 })).id).toBe('a')
  })
})

test('names an argument that is no options by its label', () => {
  const list = (given: unknown) => readOptions('of list', given, spec, 'the filter of list')
  expect(() => list(3)).toThrow('The option filter of list cannot be 3.')
  expect(() => list({ ids: 1 })).toThrow('There is no option ids in the filter of list.')
  expect(() => list({ id: '' })).toThrow('The option id of list')
})

test('names the parts of an option', () => {
  const part = (given: unknown) => readPart("search of step 'a b'", given, spec)
  expect(() => part(3)).toThrow("The option search of step 'a b' cannot be 3.")
  expect(() => part({ ids: 1 })).toThrow("There is no option ids in search of step 'a b'.")
  expect(() => part({ id: '' })).toThrow("The option search.id of step 'a b'")
})
