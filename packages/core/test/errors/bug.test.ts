import { AssertionError } from 'node:assert'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { isBug } from '../../src/errors/bug.ts'
import { recordFailure, reviveFailure } from '../../src/errors/failure.ts'
import { PawlError } from '../../src/errors/pawl-error.ts'

class OwnTypeError extends TypeError {}
function OldStyle(): void {}
OldStyle.prototype = Object.create(TypeError.prototype)
const namesake = { TypeError: class TypeError extends Error {} }.TypeError

function catchError(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return error
  }
}

describe('counts as a bug', () => {
  test.each<[string, unknown]>([
    ['a TypeError', new TypeError('x')],
    ['a ReferenceError', new ReferenceError('x')],
    ['a SyntaxError', new SyntaxError('x')],
    ['a RangeError', new RangeError('x')],
    ['one of Node, which has a code', catchError(() => Buffer.from(5 as never))],
    ['one of another realm', catchError(() => runInNewContext('null.x'))],
    ['one with a name of its own', Object.assign(new TypeError('x'), { name: 'Mine' })],
    ['a failed assertion', new AssertionError({ message: 'x' })],
    ['an error by the name of an assertion', Object.assign(new Error('x'), { name: 'AssertionError' })],
    ['a refused option', new PawlError('option-invalid', { option: 'a', given: 'b' })],
    ['a refused duration', new PawlError('duration-invalid', { text: 'x' })],
    ['a refused argument', new PawlError('payload-refused', { path: 'input' })],
    ['a forbidden call', new PawlError('nondeterministic-call', { call: 'fetch()', use: 'ctx.step' })],
  ])('counts %s as a bug', (_, error) => {
    expect(isBug(error)).toBe(true)
  })
})

describe('does not count as a bug', () => {
  const misuse = new PawlError('option-invalid', { option: 'a', given: 'b' })
  test.each<[string, unknown]>([
    ['an Error', new Error('x')],
    ['an EvalError', new EvalError('x')],
    ['a subclass', new OwnTypeError('x')],
    ['a subclass in the old style', Reflect.construct(Error, [], OldStyle)],
    ['a class of the same name', new namesake('x')],
    ['several errors', new AggregateError([new TypeError('x')])],
    ['an error that a TypeError has caused', new Error('x', { cause: new TypeError('y') })],
    ['what only looks like one', { name: 'TypeError', message: 'x', constructor: TypeError }],
    ['what has no prototype', Object.create(null)],
    ['a recorded misuse', reviveFailure(recordFailure(misuse))],
    ['a recorded assertion', reviveFailure(recordFailure(new AssertionError({ message: 'x' })))],
    [
      'the cause of a recorded failure',
      reviveFailure(recordFailure(new Error('x', { cause: misuse }))).cause,
    ],
    ['another error of Pawl', new PawlError('output-invalid', { issues: [] })],
    ['text', 'TypeError'],
    ['nothing', undefined],
    [
      'what cannot be looked at',
      new Proxy(new TypeError('x'), {
        getPrototypeOf: () => {
          throw new Error('no')
        },
        has: () => {
          throw new Error('no')
        },
      }),
    ],
  ])('does not count %s as a bug', (_, error) => {
    expect(isBug(error)).toBe(false)
  })
})
