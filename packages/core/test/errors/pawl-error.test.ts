import { createContext, runInContext } from 'node:vm'
import { describe, expect, test, vi } from 'vitest'
import { isFinalError } from '../../src/errors/final-error.ts'
import { FinalError, PawlError } from '../../src/index.ts'

const details = { status: 'answered', winner: { by: 'user:bob', at: new Date(0) } } as const

describe('an error of Pawl', () => {
  test('says what happened, what follows and what to do', () => {
    const error = new PawlError('ask-closed', details)
    expect(error.message).toBe(
      'The ask was already answered by user:bob at 1970-01-01T00:00:00.000Z. This answer was not stored. Do not retry it.',
    )
    expect(error).toMatchObject({
      name: 'PawlError',
      code: 'ask-closed',
      details,
      help: 'https://pawl.dev/docs/errors/ask-closed',
    })
    expect(error).toBeInstanceOf(Error)
    expect(Object.keys(error)).toEqual(['code', 'details', 'help'])
  })

  test('accepts more specific sentences, a whole message and a cause', () => {
    const cause = new Error('disk')
    const remedy = 'Free some space.'
    expect(new PawlError('store-unusable', { remedy }, { what: 'The disk is full.' }).message).toBe(
      'The disk is full. Nothing was started. Free some space.',
    )
    const whole = new PawlError('store-unusable', { remedy }, { message: 'as recorded', cause })
    expect(whole.message).toBe('as recorded')
    expect(whole.cause).toBe(cause)
    expect('cause' in new PawlError('store-unusable', { remedy })).toBe(false)
  })

  test('serializes the same content to JSON', () => {
    const error = new PawlError('run-not-found', { run: 'a' })
    expect(JSON.parse(JSON.stringify({ error }))).toEqual({
      error: {
        name: 'PawlError',
        code: 'run-not-found',
        message: error.message,
        details: { run: 'a' },
        help: 'https://pawl.dev/docs/errors/run-not-found',
      },
    })
  })

  test('recognizes a PawlError by its code', () => {
    const error: unknown = new PawlError('ask-closed', details)
    expect(PawlError.is(error)).toBe(true)
    expect(PawlError.is(error, 'ask-closed')).toBe(true)
    expect(PawlError.is(error, 'run-ended')).toBe(false)
  })

  test.each([undefined, null, 'ask-closed', new Error('x'), { code: 'ask-closed', name: 'PawlError' }])(
    'does not take %s for a PawlError',
    (value) => {
      expect(PawlError.is(value)).toBe(false)
      expect(PawlError.is(value, 'ask-closed')).toBe(false)
    },
  )

  test('recognizes a PawlError of another copy of the package', async () => {
    vi.resetModules()
    const copy = await import('../../src/errors/pawl-error.ts')
    expect(copy.PawlError).not.toBe(PawlError)
    expect(PawlError.is(new copy.PawlError('ask-closed', details), 'ask-closed')).toBe(true)
    expect(copy.PawlError.is(new PawlError('ask-closed', details))).toBe(true)
  })

  test('recognizes a PawlError of another realm', () => {
    const marked = runInContext(
      `Object.assign(new Error('x'), { code: 'ask-closed', [Symbol.for('@pawl/core/error')]: true })`,
      createContext({}),
    )
    expect(marked).not.toBeInstanceOf(Error)
    expect(PawlError.is(marked, 'ask-closed')).toBe(true)
  })
})

describe('a final error', () => {
  test('gives a FinalError a message, a code and a cause', () => {
    const cause = new Error('stolen')
    const error = new FinalError('card refused', { code: 'refused', cause })
    expect(error).toMatchObject({ name: 'FinalError', message: 'card refused', code: 'refused', cause })
    expect(new FinalError('card refused').code).toBeUndefined()
    expect('cause' in new FinalError('card refused')).toBe(false)
  })

  test('recognizes a FinalError of another copy of the package', async () => {
    vi.resetModules()
    const copy = await import('../../src/errors/final-error.ts')
    expect(isFinalError(new copy.FinalError('x'))).toBe(true)
    expect(isFinalError(new FinalError('x'))).toBe(true)
    expect([new Error('x'), null, 'FinalError'].map(isFinalError)).not.toContain(true)
  })
})
