import { describe, expect, test } from 'vitest'
import { createClient, decider, FinalError, procedure } from '../../src/index.ts'

// What the compiler refuses as well: from JavaScript it has to be said at run time.
describe('a wrong first argument is named', () => {
  test.each<readonly [what: string, call: () => unknown, named: string]>([
    [
      'a procedure by its name alone',
      () => procedure('x' as never, (async () => 1) as never),
      'options of procedure',
    ],
    ['a client without a store', () => createClient(undefined as never), 'store of createClient'],
    ['a decider without a body', () => decider('x', undefined as never), "body of decider 'x'"],
  ])('names the argument for %s', (_, call, named) => {
    expect(call).toThrow(expect.objectContaining({ code: 'option-invalid' }))
    expect(call).toThrow(`The option ${named} cannot be`)
  })

  test('reports a code that is not in an object', () => {
    expect(() => new FinalError('no', 'stolen' as never)).toThrow("such as { code: 'stolen' }")
  })
})
