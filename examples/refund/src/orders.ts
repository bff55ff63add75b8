import { readFile } from 'node:fs/promises'
import { FinalError } from '@pawl/core'

/** The cards the bank pays back to. */
export const cards = ['visa', 'mastercard', 'amex', 'girocard'] as const

export interface Order {
  readonly id: string
  readonly card: string
  /** In EUR, with at most two decimals. */
  readonly amount: number
  readonly reason: string
}

/** An invalid line, kept so that a person can look at it. */
export interface BadLine {
  readonly line: number
  readonly text: string
  readonly why: string
}

export interface OrderBook {
  readonly orders: readonly Order[]
  readonly bad: readonly BadLine[]
}

/**
 * Reads an order book: a CSV file of order, card, amount and reason. A bad line does not stop the others.
 * @throws FinalError if there is no such file: a retry would not find it either
 */
export async function readOrderBook(file: string): Promise<OrderBook> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new FinalError(`the order book cannot be read: ${error.message}`, {
      code: error.code ?? 'unreadable',
      cause: error,
    })
  })
  return parseOrderBook(text)
}

export function parseOrderBook(text: string): OrderBook {
  const orders = new Map<string, Order>()
  const bad: BadLine[] = []
  const [, ...lines] = text.split(/\r?\n/)
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const order = parseOrder(line)
    const why =
      typeof order === 'string'
        ? order
        : orders.has(order.id)
          ? `order ${order.id} is in the book twice`
          : undefined
    if (why !== undefined) bad.push({ line: index + 2, text: line, why })
    else if (typeof order !== 'string') orders.set(order.id, order)
  }
  return { orders: [...orders.values()], bad }
}

/** The order of a line, or why it is none. */
function parseOrder(line: string): Order | string {
  const fields = line.split(',').map((field) => field.trim())
  const [id = '', card = '', amount = '', reason = ''] = fields
  if (fields.length !== 4) return `not four fields: ${fields.length}`
  if (!/^A-\d{4}$/.test(id)) return `no order number: "${id}"`
  if (!(cards as readonly string[]).includes(card)) return `unknown card: "${card}"`
  if (!/^-?\d+(\.\d{1,2})?$/.test(amount)) return `no sum of money: "${amount}"`
  if (Number(amount) <= 0) return `not above zero: ${amount}`
  return { id, card, amount: Number(amount), reason }
}
