import { inspect } from 'node:util'
import Table from 'cli-table3'
import type { DiaryEntry } from '../diary.ts'
import type { Payment } from '../payments.ts'
import type { Entry } from './entry.ts'

/** Without colours of its own, so that it reads the same in a pipe; 80 columns wide at most. */
const look = { style: { head: [], border: [], compact: true } }

/** @param workers the processes in the order they were started */
export function drawLog(
  entries: readonly Entry[],
  diary: readonly DiaryEntry[],
  workers: readonly number[],
): string {
  const table = new Table({
    ...look,
    head: ['#', 'type', 'name', 'result', 'ms', 'worker'],
    colWidths: [4, 15, 21, 18, 7, 8],
    colAligns: ['right', 'left', 'left', 'left', 'right', 'right'],
  })
  for (const { position, type, name, result, duration_ms } of entries) {
    const ranBy = diary.filter(({ ran }) => ran === name).map(({ pid }) => workers.indexOf(pid) + 1)
    const shown = inspect(result, { breakLength: Number.POSITIVE_INFINITY, depth: 3 })
    table.push([position, type, name, shown, Math.round(duration_ms), ranBy.join(', ')])
  }
  return table.toString()
}

export function drawLedger(payments: readonly Payment[]): string {
  const table = new Table({
    ...look,
    head: ['order', 'card', 'EUR', 'idempotency key'],
    colAligns: ['left', 'left', 'right', 'left'],
  })
  for (const { order, card, amount, key } of payments) table.push([order, card, amount.toFixed(2), key])
  return table.toString()
}
