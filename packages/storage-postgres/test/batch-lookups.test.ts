import { expect, test } from 'vitest'
import { batchLookups } from '../src/reads/batch-lookups.ts'

/** As the server refuses a statement. */
function refusal(code: string): Error {
  return Object.assign(new Error('refused'), { code, severity: 'ERROR' })
}

/** Looks up numbers, of which `bad` cannot be; tells which were asked for together. */
function makeLookup(bad: (key: number) => Error | undefined, max?: number) {
  const asked: number[][] = []
  const find = batchLookups<number, { readonly key: number }>({
    async find(keys) {
      asked.push([...keys])
      for (const key of keys) {
        const error = bad(key)
        if (error !== undefined) throw error
      }
      return keys.filter((key) => key !== 0).map((key) => ({ key }))
    },
    nameOf: String,
    keyOf: ({ key }) => key,
    weightOf: (key) => key,
    ...(max === undefined ? {} : { max }),
  })
  return { find, asked }
}

test('concurrent lookups share statements of limited weight', async () => {
  const { find, asked } = makeLookup(() => undefined, 10)
  const rows = await Promise.all([4, 5, 0, 2, 12, 3, 7].map(find))
  expect(rows.map((row) => row?.key)).toEqual([4, 5, undefined, 2, 12, 3, 7])
  expect(asked).toEqual([[4, 5, 0], [2], [12], [3, 7]])
})

test.for([
  ['a value that cannot be one', '22021'],
  ['a page of the disk that cannot be read', 'XX001'],
] as const)('%s affects no other lookup', async ([, code]) => {
  const { find, asked } = makeLookup((key) => (key === 2 ? refusal(code) : undefined))
  const outcomes = await Promise.allSettled([1, 2, 3].map(find))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(asked).toEqual([[1, 2, 3], [1], [2], [3]])
})

test('lookups are not repeated one by one if the server does not respond', async () => {
  const { find, asked } = makeLookup(() => new Error('Query read timeout'))
  const outcomes = await Promise.allSettled([1, 2, 3].map(find))
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(asked).toEqual([[1, 2, 3]])
})
