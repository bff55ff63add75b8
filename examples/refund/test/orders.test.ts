import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parseOrderBook, readOrderBook } from '../src/orders.ts'

const head = 'order,card,amount,reason'

test('a line becomes an order, whatever ends the lines', () => {
  const lines = [head, 'A-1001, visa ,24.90,arrived broken', '', 'A-1002,amex,7,wrong size', '']
  const expected = [
    { id: 'A-1001', card: 'visa', amount: 24.9, reason: 'arrived broken' },
    { id: 'A-1002', card: 'amex', amount: 7, reason: 'wrong size' },
  ]
  for (const end of ['\n', '\r\n'])
    expect(parseOrderBook(lines.join(end))).toEqual({ orders: expected, bad: [] })
})

test.each([
  ['A-1001,dinersclub,24.90,broken', 'unknown card: "dinersclub"'],
  ['A-1001,visa,-24.90,broken', 'not above zero: -24.90'],
  ['A-1001,visa,0.00,broken', 'not above zero: 0.00'],
  ['A-1001,visa,1e9,broken', 'no sum of money: "1e9"'],
  ['A-1001,visa,24.905,broken', 'no sum of money: "24.905"'],
  ['A-1001,visa,,broken', 'no sum of money: ""'],
  ['1001,visa,24.90,broken', 'no order number: "1001"'],
  ['A-1001,visa,24.90', 'not four fields: 3'],
  ['A-1001,visa,24.90,broken,twice', 'not four fields: 5'],
])('%s is kept as a bad line', (line, why) => {
  const { orders, bad } = parseOrderBook(`${head}\n${line}\nA-1002,visa,1.00,good`)
  expect(bad).toEqual([{ line: 2, text: line, why }])
  expect(orders.map(({ id }) => id)).toEqual(['A-1002'])
})

test('an order that is there twice is paid back once', () => {
  const line = 'A-1001,visa,24.90,broken'
  const { orders, bad } = parseOrderBook(`${head}\n${line}\n${line}`)
  expect(orders).toHaveLength(1)
  expect(bad).toEqual([{ line: 3, text: line, why: 'order A-1001 is in the book twice' }])
})

test('the book that comes with the example has bad lines among more than twenty, and one large sum', async () => {
  const book = await readOrderBook(fileURLToPath(new URL('../data/orders.csv', import.meta.url)))
  expect(book.orders.length + book.bad.length).toBeGreaterThanOrEqual(20)
  expect(book.bad.length).toBeGreaterThan(4)
  expect(book.orders.filter(({ amount }) => amount > 100)).toHaveLength(1)
})

test('a book that is not there is not asked for again', async () => {
  await expect(readOrderBook('/nowhere/orders.csv')).rejects.toMatchObject({
    name: 'FinalError',
    code: 'ENOENT',
  })
})
