import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import {
  listBigints,
  listBooleans,
  listBytes,
  listIntegers,
  listSmallints,
  listTexts,
  writeLiteral,
} from '../src/connection/fast-path/lists.ts'

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await makeDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.remove()
})

/** What the server takes it for. */
async function readBack(expression: string, list: unknown): Promise<unknown> {
  const { rows } = await client.query(`select to_json(${expression}) as list`, [list])
  return rows[0].list
}

const numbersUpTo = (maximum: number) => fc.integer({ min: -maximum - 1, max: maximum })
const text = fc.string({ unit: 'grapheme' }).map((string) => string.replaceAll('\0', ''))
const lists = <Value>(value: fc.Arbitrary<Value>) => fc.array(fc.option(value), { maxLength: 70 })

describe('a list is stored as it was sent', () => {
  const kinds = [
    ['int2[]', listSmallints, numbersUpTo(2 ** 15 - 1)],
    ['int[]', listIntegers, numbersUpTo(2 ** 31 - 1)],
    ['bigint[]', listBigints, fc.maxSafeInteger()],
    ['bool[]', listBooleans, fc.boolean()],
    ['text[]', listTexts, text],
  ] as const
  for (const [type, list, value] of kinds) {
    test(`a list of ${type} is stored as it was sent`, async () => {
      await fc.assert(
        fc.asyncProperty(lists<unknown>(value), async (values) => {
          expect(await readBack(`$1::${type}`, list(values as never))).toEqual(values)
        }),
      )
    })
  }

  test('a list of bytea[] is stored as it was sent', async () => {
    await fc.assert(
      fc.asyncProperty(lists(fc.uint8Array({ maxLength: 40 })), async (values) => {
        const hex =
          "array(select encode(item, 'hex') from unnest($1::bytea[]) with ordinality as u(item, i) order by i)"
        const expected = values.map((bytes) => bytes && Buffer.from(bytes).toString('hex'))
        expect(await readBack(hex, listBytes(values))).toEqual(expected)
      }),
    )
  })

  test('a list of lists of texts is stored as it was sent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(text)), async (values) => {
        const all =
          'array(select to_json(item::text[]) from unnest($1::text[]) with ordinality as u(item, i) order by i)'
        expect(await readBack(all, listTexts(values.map(writeLiteral)))).toEqual(values)
      }),
    )
  })
})

test.each([
  ['int2[]', listSmallints, 2 ** 15],
  ['int[]', listIntegers, -(2 ** 31) - 1],
  ['bigint[]', listBigints, 2 ** 53],
  ['int[]', listIntegers, 1.5],
  ['bigint[]', listBigints, Number.NaN],
])('a number that has no place in %s is refused before it is sent', (_, list, value) => {
  expect(() => list([1, value])).toThrow(RangeError)
})
