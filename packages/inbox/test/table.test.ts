import type { Json } from '@pawl/server/internal'
import { expect, test } from 'vitest'
import { tableOf } from '../src/text/table.ts'

const wide = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`c${n}`, n]))

test('rows of simple values are a table with all columns of all rows', () => {
  const rows = [{ name: 'a' }, { name: 'b', lines: [{ sku: 'x', n: 1 }] }]
  expect(tableOf(rows)).toEqual({ columns: ['name', 'lines'], rows })
  expect(tableOf([wide])?.columns).toHaveLength(30)
})

test.each<[string, Json]>([
  ['a column more than a table has', [{ ...wide, amount: 1_000_000 }]],
  ['a row more than a table has', Array.from({ length: 201 }, (_, amount) => ({ amount }))],
  ['a longer text than a cell has', [{ note: `${'x'.repeat(500)} amount: 1000000` }]],
  ['parts that a cell shortens', [{ order: { lines: [{ amount: 1_000_000 }] } }]],
  ['no rows', []],
  ['rows that are no objects', [1]],
])('a value with %s is no table, so that it is shown whole', (_, value) => {
  expect(tableOf(value)).toBeNull()
})
