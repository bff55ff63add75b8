import { setTimeout as pause } from 'node:timers/promises'
import { appendLine, readLines } from '../../shared/src/json-lines.ts'
import { fileOf } from './folder.ts'
import type { Order } from './orders.ts'

export interface Payment {
  readonly order: string
  readonly card: string
  /** In EUR. */
  readonly amount: number
  /** The step's idempotency key: a bank refuses a second payment with the same one. */
  readonly key: string
}

/** How long the bank takes, up to REFUND_BANK_MS and different for each order, so that payments can be watched one by one. */
function responseMs(order: string): number {
  return (Number(process.env['REFUND_BANK_MS'] ?? 0) * (Number(order.slice(2)) % 16)) / 15
}

const file = () => fileOf('payments.jsonl')

/**
 * The bank: a ledger to which each payment is appended. A real one would drop a second payment with the same
 * key; this one writes it down, so that it would be seen.
 */
export const payments = {
  async refund({ id, card }: Order, amount: number, key: string): Promise<void> {
    await pause(responseMs(id))
    await appendLine(file(), { order: id, card, amount, key } satisfies Payment)
  },

  list: (): Promise<readonly Payment[]> => readLines<Payment>(file()),
}
