import type { AskOrder, AskRow } from '../ports/store/asks.ts'

/** Where an ask stands in a list of `now`. */
export function orderOf({ urgency, dueAt, openedAt, runKey, position }: AskRow, now: number): AskOrder {
  return { overdue: dueAt !== null && dueAt <= now, urgency, dueAt, openedAt, run: runKey, position }
}

/** The most urgent first. */
export function compareOrder(a: AskOrder, b: AskOrder): number {
  return (
    Number(b.overdue) - Number(a.overdue) ||
    b.urgency - a.urgency ||
    (a.dueAt === b.dueAt ? 0 : (a.dueAt ?? Infinity) - (b.dueAt ?? Infinity)) ||
    a.openedAt - b.openedAt ||
    a.run - b.run ||
    a.position - b.position
  )
}
