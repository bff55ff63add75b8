import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkSameTypes } from '../../src/asks/same-types.ts'
import { IssueList, type Issues } from '../../src/base/issues.ts'
import { decode, encode } from '../../src/events/payload.ts'

function check(shown: unknown, edited: unknown): Issues['issues'] {
  const list = new IssueList()
  checkSameTypes(shown, edited, 'artifact', list)
  return list.found.issues
}

const order = { id: 'A-1', lines: [{ sku: 'x', count: 1 }], note: { reason: 'late' } }
const at = new Date(0)

test.each<[what: string, shown: unknown, edited: unknown]>([
  ['a text', 'a', ''],
  ['a number', 45, -0.5],
  ['a yes', true, false],
  ['a bigint', 5n, -7n],
  ['a date', at, new Date(5)],
  ['bytes', new Uint8Array([1]), Buffer.from([2, 3])],
  ['an object', order, { note: { reason: 'early' }, lines: [{ count: 9, sku: 'y' }], id: '' }],
  ['a list of more', [1], [1, 2, 3]],
  ['a list of less', [1], []],
  ['a list of several types', [1, 'a', null], ['b', null, null, 2]],
  [
    'objects of which not all have the same keys',
    [{ a: 1 }, { a: 1, b: 'x' }],
    [{ a: 2, b: 'y' }, { a: 3 }, { a: 4 }],
  ],
  ['a list of lists, one of them empty', [[], [1]], [[2, 3], []]],
  [
    'a map',
    new Map([['a', 1]]),
    new Map([
      ['b', 2],
      ['c', 3],
    ]),
  ],
  ['a set', new Set(['a']), new Set(['b', 'c'])],
  ['what was infinite', Number.POSITIVE_INFINITY, Number.NaN],
  ['a member that is undefined', { a: 1, b: undefined }, { a: 2 }],
])('accepts an edit that keeps its type: %s', (_, shown, edited) => {
  expect(check(shown, edited)).toEqual([])
})

describe('an edit that changes a type is rejected with its path', () => {
  const must = (type: string) => `must be ${type}, the type of the original value`
  const stays = (what: string) => `must stay ${what}: the ask has no schema that allows another type`
  const empty = 'must stay empty: the ask has no schema for its content'
  const missing = 'is missing: the original value has it'
  const added = 'cannot be added: the original value does not have it'
  test.each<[what: string, shown: unknown, edited: unknown, path: string, message: string]>([
    ['a number as text', 45, 'seven', '', must('number')],
    ['no number', 45, Number.NaN, '', must('number')],
    ['a bigint as a number', 5n, 5, '', must('bigint')],
    ['a date as text', at, at.toISOString(), '', must('Date')],
    ['a text as null', 'a', null, '', must('string')],
    ['nothing', 'a', undefined, '', must('string')],
    ['a list as an object', [1], { 0: 1 }, '', must('array')],
    ['an object as a date', {}, at, '', must('object')],
    ['bytes as a list', new Uint8Array([1]), [1], '', must('Uint8Array')],
    ['bytes of another class', new Uint8Array([1]), new Int8Array([1]), '', must('Uint8Array')],
    ['null', null, 'a', '', stays('null')],
    ['undefined', { a: undefined }, { a: 'a' }, '.a', stays('undefined')],
    ['an item', [1, 2], [1, 'a'], '[1]', must('number')],
    ['an item of several types', [1, 'a'], [true], '[0]', must('number or string')],
    ['an item of an empty list', [], [1], '', empty],
    ['a member', order, { ...order, note: { reason: 1 } }, '.note.reason', must('string')],
    [
      'a member of an item',
      order,
      { ...order, lines: [{ sku: 'x', count: '1' }] },
      '.lines[0].count',
      must('number'),
    ],
    ['a member that is gone', order, { id: 'x', lines: [] }, '.note', missing],
    ['a member that was not there', order, { ...order, extra: 1 }, '.extra', added],
    ['a member that all items have', [{ a: 1 }, { a: 1, b: 2 }], [{ b: 3 }], '[0].a', missing],
    ['a prototype', { a: 1 }, JSON.parse('{"a":1,"__proto__":{"admin":true}}'), '.__proto__', added],
    ['a key of a map', new Map([['a', 1]]), new Map([[5, 1]]), '[0]', must('string')],
    ['a value of a map', new Map([['a', 1]]), new Map([['a', 'x']]), '[0]', must('number')],
    ['an entry of an empty map', new Map(), new Map([['a', 1]]), '', empty],
    ['an item of a set', new Set(['a']), new Set([1]), '[0]', must('string')],
  ])('rejects another type of %s', (_, shown, edited, path, message) => {
    expect(check(shown, edited)[0]).toEqual({ path: `artifact${path}`, message })
  })
})

const payload = fc.anything({
  withDate: true,
  withBigInt: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
})

test('accepts any original value unchanged, in linear time', () => {
  const property = fc.property(payload, (value) => {
    const copy = attempt(() => decode(encode(value, 'value')))
    if (copy !== undefined) expect(check(value, copy)).toEqual([])
  })
  fc.assert(property, { numRuns: 500 })
})

function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

test('rejects a long list of wrong items with a hundred issues, and stops there', () => {
  const large = Array.from({ length: 300_000 }, (_, n) => ({ [`k${n % 7}`]: n }))
  const wrong = large.map(() => ({ k0: 'x', k1: 'x' }))
  const list = new IssueList()
  checkSameTypes(large, wrong, 'artifact', list)
  expect(list.found).toMatchObject({ more: true, issues: { length: 100 } })
})
