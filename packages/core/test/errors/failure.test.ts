import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isWellFormed } from '../../src/base/text.ts'
import { failureOf, recordFailure, reviveFailure, tellFailure } from '../../src/errors/failure.ts'
import { FinalError, PawlError } from '../../src/index.ts'

describe('recording a failure', () => {
  test('records the name, message, code, stack and cause of an error', () => {
    const error = Object.assign(new TypeError('bad card', { cause: new RangeError('too long') }), {
      code: 'E_CARD',
    })
    const record = recordFailure(error)
    expect(record).toMatchObject({
      name: 'TypeError',
      message: 'bad card',
      code: 'E_CARD',
      cause: { name: 'RangeError', message: 'too long' },
    })
    expect(record.stack).toMatch(/^ {4}at .*failure\.test\.ts/)
    expect(failureOf(record)).toEqual({ name: 'TypeError', message: 'bad card (too long)', code: 'E_CARD' })
    expect(failureOf(recordFailure(new Error('x')))).toEqual({ name: 'Error', message: 'x', code: undefined })
  })

  test('tells people a failure without the remedies of its errors and of their causes', () => {
    const cause = { name: 'Error', message: 'no', code: undefined }
    const step = new PawlError('step-failed', { step: 'pay', attempts: 2, cause })
    const child = new PawlError(
      'run-failed',
      { run: 'pay:1', cause: { name: step.name, message: step.message, code: step.code } },
      { cause: step },
    )
    const message = "Step 'pay' failed after 2 attempts: Error: no. The failure is recorded."
    expect(step.message).toBe(
      `${message} Catch this error to handle it, or change the \`retry\` option of the step.`,
    )
    expect(tellFailure(recordFailure(step))).toMatchObject({ message, code: 'step-failed' })
    expect(tellFailure(recordFailure(child)).message).toBe(`Run pay:1 failed: PawlError: ${message}`)
    expect(tellFailure({ ...recordFailure(step), details: undefined }).message).toBe(step.message)
    expect(tellFailure(recordFailure(new Error('no'))).message).toBe('no')
  })

  test('records the frames of a stack, even if the error was renamed', () => {
    const error = Object.assign(new Error('bad card,\nreally'), { name: 'CardError' })
    expect(error.stack).toContain('Error: bad card')
    expect(recordFailure(error).stack).toMatch(/^ {4}at .*failure\.test\.ts/)
    expect(recordFailure(Object.assign(new Error('x'), { stack: 'somewhere' })).stack).toBe('somewhere')
  })

  test('reports the cause of an error once, however often it was wrapped', () => {
    const refused = new Error('connect ECONNREFUSED')
    const failed = new TypeError('fetch failed', { cause: refused })
    const wrapped = new Error('the shop: connect ECONNREFUSED', { cause: failed })
    expect(failureOf(recordFailure(failed)).message).toBe('fetch failed (connect ECONNREFUSED)')
    expect(failureOf(recordFailure(wrapped)).message).toBe('the shop: connect ECONNREFUSED (fetch failed)')
  })

  test('records and reports the first errors of an aggregate', () => {
    const errors = Array.from({ length: 9 }, (_, i) => new Error(`mirror ${i}`))
    const failed = new AggregateError([...errors, 'no error'], 'All promises were rejected')
    const record = recordFailure(new Error('no mirror', { cause: failed }))
    const reported = 'mirror 0; mirror 1; mirror 2; mirror 3; mirror 4'
    expect(failureOf(record).message).toBe(`no mirror (All promises were rejected) (${reported})`)
    const revived = reviveFailure(record).cause as AggregateError
    expect(revived.errors.map(({ message }) => message)).toEqual(reported.split('; '))
    expect(recordFailure(reviveFailure(record))).toEqual(record)
    const alike = new AggregateError([new Error('timeout'), new Error('timeout')], 'All')
    expect(failureOf(recordFailure(alike)).message).toBe('All (timeout)')
    const nest = (depth: number): Error =>
      depth === 0
        ? new Error('leaf')
        : new AggregateError(
            Array.from({ length: 5 }, () => nest(depth - 1)),
            'node',
          )
    expect(sizeOf(recordFailure(nest(6)))).toBeLessThan(64 * 1024)
    const endless = new AggregateError([])
    endless.errors.push(endless)
    expect(recordFailure(endless)).not.toHaveProperty('errors')
  })

  test('records the details of a PawlError only', () => {
    const at = new Date(7)
    const closed = new PawlError('ask-closed', { status: 'answered', winner: { by: 'user:bob', at } })
    expect(recordFailure(closed)).toMatchObject({
      name: 'PawlError',
      code: 'ask-closed',
      details: { status: 'answered', winner: { by: 'user:bob', at } },
    })
    expect(recordFailure(Object.assign(new Error('x'), { details: { secret: 1 } }))).not.toHaveProperty(
      'details',
    )
  })

  test('records the name and code of a FinalError', () => {
    expect(recordFailure(new FinalError('stolen', { code: 'stolen' }))).toMatchObject({
      name: 'FinalError',
      code: 'stolen',
    })
  })

  test.each([
    ['boom', 'boom'],
    [undefined, 'undefined was thrown, which is not an error'],
    [null, 'null was thrown, which is not an error'],
    [42, '42 was thrown, which is not an error'],
    [Symbol('x'), 'Symbol(x) was thrown, which is not an error'],
    [{ status: 404 }, '{"status":404} was thrown, which is not an error'],
    [() => 1, 'a function was thrown, which is not an error'],
  ])('records any thrown value: %s', (thrown, message) => {
    expect(recordFailure(thrown)).toEqual({ name: 'Error', message })
  })

  test('records an object that looks like an error', () => {
    expect(recordFailure({ name: 'Odd', message: 'bad', code: 7 })).toEqual({
      name: 'Odd',
      message: 'bad',
      code: '7',
    })
    expect(recordFailure({ message: 'bad', name: 3, code: {}, stack: 5 })).toEqual({
      name: 'Error',
      message: 'bad',
    })
  })

  test('stops at a cyclic cause', () => {
    const one = new Error('one')
    const other = new Error('other', { cause: one })
    one.cause = other
    const record = recordFailure(one)
    expect(record.cause?.message).toBe('other')
    expect(record.cause?.cause).toBeUndefined()
  })

  test('stops at the eighth cause', () => {
    let error = new Error('first')
    for (let depth = 0; depth < 50; depth += 1) error = new Error(`${depth}`, { cause: error })
    let depth = 0
    for (let record = recordFailure(error); record.cause; record = record.cause) depth += 1
    expect(depth).toBe(8)
  })

  test('records errors whose getters and proxy traps throw', () => {
    const trap = (): never => {
      throw new Error('trap')
    }
    const hostile = new Error('x')
    Object.defineProperty(hostile, 'message', { get: trap })
    expect(recordFailure(hostile).name).toBe('Error')
    const half = new Error('kept')
    for (const key of ['stack', 'name', 'code', 'cause']) Object.defineProperty(half, key, { get: trap })
    expect(recordFailure(half)).toEqual({ name: 'Error', message: 'kept' })
    expect(
      recordFailure(new Proxy({}, { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap })),
    ).toMatchObject({ name: 'Error' })
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(recordFailure(proxy)).toMatchObject({ name: 'Error' })
  })

  test('replaces text that cannot be encoded', () => {
    const record = recordFailure(new Error('half \uD83D'))
    expect(record.message).toBe('half \uFFFD')
    expect(isWellFormed(JSON.stringify(record))).toBe(true)
  })

  test('keeps the record of any thrown value below 64 KiB', () => {
    const long = '€'.repeat(1_000_000)
    let error: Error = Object.assign(new Error(long), { name: long, code: long, stack: long })
    for (let depth = 0; depth < 20; depth += 1)
      error = Object.assign(new Error(long, { cause: error }), { name: long, code: long })
    const issues = Array.from({ length: 10_000 }, (_, index) => ({ path: `items[${index}]`, message: long }))
    const pawl = new PawlError('answer-invalid', { issues }, { cause: error, message: long })
    for (const thrown of [error, pawl, long, { [long]: long }])
      expect(sizeOf(recordFailure(thrown))).toBeLessThan(65_536)
  })

  test('leaves room for the stack and the cause of a long message', () => {
    const record = recordFailure(new Error('x'.repeat(100_000), { cause: new Error('why') }))
    expect(record.message).toMatch(/^x+… \(100000 characters in all\)$/)
    expect(record.stack).toContain('failure.test.ts')
    expect(record.cause).toMatchObject({ message: 'why' })
  })

  test('keeps whole items of long details', () => {
    const issues = Array.from({ length: 10_000 }, (_, index) => ({
      path: `items[${index}]`,
      message: 'must be a number',
    }))
    const { details } = recordFailure(new PawlError('answer-invalid', { issues }))
    const kept = (details as { readonly issues: readonly unknown[] }).issues
    expect(kept.length).toBeGreaterThan(50)
    expect(kept).toEqual(issues.slice(0, kept.length))
  })

  test('records any value as plain data', () => {
    fc.assert(
      fc.property(
        fc.anything({ withDate: true, withMap: true, withNullPrototype: true, withBigInt: true }),
        (thrown) => {
          const record = recordFailure(thrown)
          expect(JSON.parse(JSON.stringify(record))).toEqual(record)
          expect(sizeOf(record)).toBeLessThan(65_536)
        },
      ),
    )
  })
})

describe('reviving a failure', () => {
  test('revives an error with the recorded name, message and code', () => {
    const error = reviveFailure({
      name: 'TypeError',
      message: 'bad',
      code: 'E_CARD',
      stack: '    at a (b.ts:1:1)',
    })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'TypeError', message: 'bad', code: 'E_CARD' })
    expect(Object.keys(error)).toEqual(['code'])
    expect(error.stack).toBe('TypeError: bad\n    at a (b.ts:1:1)')
    expect(String(error)).toBe('TypeError: bad')
  })

  test('does not show in a stack where an error was revived', () => {
    expect(reviveFailure({ name: 'Error', message: 'bad' }).stack).toBe('Error: bad')
  })

  test('revives a PawlError with its original message', () => {
    const made = new PawlError('step-failed', {
      step: 'charge',
      attempts: 3,
      cause: { name: 'TypeError', message: 'bad', code: undefined },
    })
    const record = { ...recordFailure(made), message: 'as an older release said it' }
    const error = reviveFailure(record)
    expect(PawlError.is(error, 'step-failed') && error.details).toEqual(made.details)
    expect(error.message).toBe('as an older release said it')
  })

  test('revives an unknown code as a plain error', () => {
    const error = reviveFailure({
      name: 'PawlError',
      message: 'new',
      code: 'of-a-later-release',
      details: {},
    })
    expect(PawlError.is(error)).toBe(false)
    expect(error).toMatchObject({ name: 'PawlError', code: 'of-a-later-release' })
  })

  test('revives a name and code that any library may use as a plain error', () => {
    expect(PawlError.is(reviveFailure({ name: 'PawlError', message: 'x', code: 'cancelled' }))).toBe(false)
  })

  test('revives causes', () => {
    const error = reviveFailure({ name: 'A', message: 'a', cause: { name: 'B', message: 'b', code: '7' } })
    expect(error.cause).toMatchObject({ name: 'B', message: 'b', code: '7' })
  })

  test('records a revived error unchanged', () => {
    const record = recordFailure(
      new TypeError('bad', { cause: new PawlError('cancelled', { reason: 'no' }) }),
    )
    expect(recordFailure(reviveFailure(record))).toEqual(record)
  })
})

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
