import { expect, test } from 'vitest'
import { verdictSchema } from '../../../src/authoring/agent/verdict.ts'

const validate = (value: unknown) => verdictSchema['~standard'].validate(value)

test('returns the verdict that was validated, even if the original changes', () => {
  let read = 0
  const changing = {
    rationale: 'because',
    get choice(): unknown {
      return read++ === 0 ? 'keep' : 3
    },
  }
  expect(validate(changing)).toEqual({ value: { choice: 'keep', rationale: 'because' } })
})

test('distinguishes a malformed verdict from an incomplete one', () => {
  for (const value of [null, undefined, 'keep', 3])
    expect(validate(value)).toEqual({
      issues: [{ path: [], message: 'it must be { choice, rationale, confidence? }' }],
    })
  expect(validate({ choice: 3, confidence: 1.1 })).toEqual({
    issues: [
      { path: ['choice'], message: 'must be a string' },
      { path: ['rationale'], message: 'must be a string' },
      { path: ['confidence'], message: 'must be a number from 0 to 1' },
    ],
  })
})
