import { describe, expect, test } from 'vitest'
import { readDecideOptions } from '../../../src/authoring/agent/decide-options.ts'

const choices = [{ value: 'go' }, { value: 'stop' }]
const read = (options: unknown) => readDecideOptions('of decide', options, choices)

describe('the options of decide', () => {
  test('uses the documented defaults for decide, without a default fallback', () => {
    expect(read({ fallback: 'stop' })).toEqual({
      fallback: { do: 'choose', choice: 'stop' },
      minConfidence: 0,
      timeoutMs: 60_000,
      attempts: 2,
    })
    expect(() => read(undefined)).toThrow(
      "It must be the outcome if the agent cannot decide: 'go', 'stop', { ask: { to } } or { fail: 'why' }.",
    )
  })

  test('reads a fallback to people or to a failure', () => {
    expect(read({ fallback: { ask: { to: 'group:ops' } } }).fallback).toEqual({
      do: 'ask',
      options: { to: 'group:ops' },
    })
    expect(read({ fallback: { fail: 'no critic' } }).fallback).toEqual({ do: 'fail', message: 'no critic' })
  })

  test('reads the options of decide', () => {
    expect(read({ fallback: 'go', minConfidence: 0.8, timeout: '30s', attempts: 1 })).toMatchObject({
      minConfidence: 0.8,
      timeoutMs: 30_000,
      attempts: 1,
    })
  })

  test.each([
    [{ fallback: 'wait' }, 'The option fallback of decide'],
    [{ fallback: {} }, 'The option fallback of decide'],
    [{ fallback: { ask: {}, fail: 'both' } }, 'The option fallback of decide'],
    [{ fallback: { human: {} } }, 'Known options: ask, fail.'],
    [{ fallback: { ask: 'group:ops' } }, 'It must be an object.'],
    [{ fallback: { fail: '' } }, 'It must be a non-empty string.'],
    [{ fallback: 'go', minConfidence: 80 }, 'It must be a number from 0 to 1.'],
    [{ fallback: 'go', timeout: 5 }, '(timeout of decide)'],
    [{ fallback: 'go', attempts: 0 }, 'It must be a whole number from 1.'],
    [{ fallback: 'go', confidence: 0.8 }, 'There is no option confidence'],
  ])('rejects the decide options %j', (options, message) => {
    expect(() => read(options)).toThrow(message)
  })
})
