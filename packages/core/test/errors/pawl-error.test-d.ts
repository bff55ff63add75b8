import { expectTypeOf, test } from 'vitest'
import { type Actor, type ErrorCode, type Failure, PawlError } from '../../src/index.ts'

declare const error: unknown

test('a code tells what an error carries', () => {
  if (PawlError.is(error, 'ask-closed')) {
    expectTypeOf(error.code).toEqualTypeOf<'ask-closed'>()
    expectTypeOf(error.details.winner).toEqualTypeOf<{ readonly by: Actor; readonly at: Date } | undefined>()
  }
  if (PawlError.is(error, 'step-failed')) expectTypeOf(error.details.cause).toEqualTypeOf<Failure>()
})

test('without a code, a switch over its code tells what it carries', () => {
  if (!PawlError.is(error)) return
  switch (error.code) {
    case 'ask-closed':
      expectTypeOf(error.details.winner).toEqualTypeOf<
        { readonly by: Actor; readonly at: Date } | undefined
      >()
      break
    case 'step-failed':
      expectTypeOf(error.details.cause).toEqualTypeOf<Failure>()
      break
    default:
  }
})

test('without a code it is one of all', () => {
  if (PawlError.is(error)) {
    expectTypeOf(error.code).toEqualTypeOf<ErrorCode>()
    expectTypeOf(error.help).toEqualTypeOf<string>()
    expectTypeOf(error).toExtend<Error>()
  }
})
