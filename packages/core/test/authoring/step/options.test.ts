import { describe, expect, test } from 'vitest'
import { readAttemptOptions } from '../../../src/authoring/step/options.ts'

const read = (options: unknown) => readAttemptOptions("of step 'charge'", options)

describe('the options of a step', () => {
  test('uses the documented defaults for a step', () => {
    expect(read(undefined)).toEqual({
      retry: { attempts: 3, backoffMs: 1_000, factor: 2, maxMs: 60_000, jitter: 'full', when: undefined },
      timeoutMs: null,
    })
  })

  test('reads durations in milliseconds, with defaults for the rest', () => {
    const when = (): boolean => false
    expect(read({ retry: { attempts: 5, backoff: '2s', when }, timeout: '1.5m' })).toEqual({
      retry: { attempts: 5, backoffMs: 2_000, factor: 2, maxMs: 60_000, jitter: 'full', when },
      timeoutMs: 90_000,
    })
    expect(read({ retry: { factor: 1, max: '1h', jitter: 'none' } }).retry).toMatchObject({
      factor: 1,
      maxMs: 3_600_000,
      jitter: 'none',
    })
  })

  test('reads retry: false as a single attempt', () => {
    expect(read({ retry: false }).retry.attempts).toBe(1)
  })

  test('overrides the options of an agent one by one with the options of a call', () => {
    const agent = read({ retry: { attempts: 7 }, timeout: '5s' })
    expect(readAttemptOptions('of agent', { timeout: '9s' }, agent)).toEqual({
      retry: agent.retry,
      timeoutMs: 9_000,
    })
    expect(readAttemptOptions('of agent', { retry: undefined }, agent)).toEqual(agent)
  })

  test.each([
    [{ retrys: 3 }, "There is no option retrys in the options of step 'charge'. Did you mean retry?"],
    [{ retry: true }, "The option retry of step 'charge' cannot be true."],
    [{ retry: 3 }, 'It must be an object such as { attempts: 5 }, or false for one attempt.'],
    [{ retry: { attempts: 0 } }, "The option retry.attempts of step 'charge' cannot be 0."],
    [{ retry: { attempts: 2.5 } }, 'It must be a whole number from 1.'],
    [{ retry: { attempt: 2 } }, 'Did you mean attempts?'],
    [{ retry: { backoff: 2 } }, "(retry.backoff of step 'charge')"],
    [{ retry: { backoff: '-1s' } }, 'it is negative'],
    [{ retry: { factor: 0.5 } }, 'It must be a number from 1 to 1000.'],
    [{ retry: { max: 'for ever' } }, "(retry.max of step 'charge')"],
    [{ retry: { jitter: 'half' } }, "It must be one of 'full', 'none'."],
    [{ retry: { when: 'never' } }, 'It must be a function.'],
    [{ timeout: 30 }, "a bare number has no unit: write '30ms' or '30s'"],
    [{ timeout: null }, "(timeout of step 'charge')"],
    ['30s', 'It must be an object.'],
  ])('rejects the step options %j', (options, message) => {
    expect(() => read(options)).toThrow(message)
  })
})
