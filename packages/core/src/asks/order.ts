import type { AskOrder, AskRow } from '../ports/store/asks.ts'

/** One of the values that decide where an ask stands in a list. */
export interface AskOrderKey<Key extends keyof AskOrder = keyof AskOrder> {
  readonly key: Key
  readonly direction: 'asc' | 'desc'
  /** Where asks without the value stand; only of a key that may be null. */
  readonly nulls?: 'last'
}

/** The most urgent first: the first key in which two asks differ decides. No two asks are equal in all of them. */
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

/** Where an ask stands in a list of `now`. */
export function orderOf({ urgency, dueAt, openedAt, runKey, position }: AskRow, now: number): AskOrder {
  return { overdue: dueAt !== null && dueAt <= now, urgency, dueAt, openedAt, run: runKey, position }
}

/** Negative where `a` stands before `b`. Two parts of places are compared by the keys they both have. */
export function compareOrder(a: Partial<AskOrder>, b: Partial<AskOrder>): number {
  for (const { key, direction } of askOrder) {
    const [left, right] = [a[key], b[key]]
    if (left === undefined || right === undefined || left === right) continue
    // Null stands last.
    const difference = Number(left ?? Infinity) - Number(right ?? Infinity)
    return direction === 'asc' ? difference : -difference
  }
  return 0
}
