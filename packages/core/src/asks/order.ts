import type { AskOrder, AskRow } from '../ports/store/asks.ts'

/** A sort key of the list of asks. */
export interface AskOrderKey<Key extends keyof AskOrder = keyof AskOrder> {
  readonly key: Key
  readonly direction: 'asc' | 'desc'
  /** The position of asks without a value; only for a nullable key. */
  readonly nulls?: 'last'
}

/** The sort order, most urgent first. The first differing key decides; no two asks are equal in all keys. */
export const askOrder: readonly [
  AskOrderKey<'overdue'>,
  AskOrderKey<'urgency'>,
  AskOrderKey<'dueAt'>,
  AskOrderKey<'openedAt'>,
  AskOrderKey<'run'>,
  AskOrderKey<'position'>,
] = [
  { key: 'overdue', direction: 'desc' },
  { key: 'urgency', direction: 'desc' },
  { key: 'dueAt', direction: 'asc', nulls: 'last' },
  { key: 'openedAt', direction: 'asc' },
  { key: 'run', direction: 'asc' },
  { key: 'position', direction: 'asc' },
]

/** Returns the sort values of an ask at `now`. */
export function orderOf(row: AskRow, now: number): AskOrder {
  const { runKey, position } = row
  const { urgency, dueAt, openedAt } = row.place ?? row
  return { overdue: dueAt !== null && dueAt <= now, urgency, dueAt, openedAt, run: runKey, position }
}

/** Compares two asks: negative if `a` comes first. Partial values are compared by the keys they share. */
export function compareOrder(a: Partial<AskOrder>, b: Partial<AskOrder>): number {
  for (const { key, direction } of askOrder) {
    const [left, right] = [a[key], b[key]]
    if (left === undefined || right === undefined || left === right) continue
    // Null sorts last.
    const difference = Number(left ?? Infinity) - Number(right ?? Infinity)
    return direction === 'asc' ? difference : -difference
  }
  return 0
}
