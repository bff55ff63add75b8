import {
  type AskFilter,
  type AskQuery,
  type AskRow,
  compareOrder,
  namesOf,
  orderOf,
} from '@pawl/core/storage'
import type { AskRecord, Tables } from '../tables.ts'
import { showAsk } from './asks.ts'

/** Lists asks, the most urgent first. */
export function listAsks({ asks }: Tables, filter: AskQuery): readonly AskRow[] {
  const { now, after, limit } = filter
  return asks
    .filter((ask) => isAsked(ask, filter))
    .map(showAsk)
    .filter((row) => after === null || compareOrder(orderOf(row, now), after) > 0)
    .sort((a, b) => compareOrder(orderOf(a, now), orderOf(b, now)))
    .slice(0, limit)
}

/** Counts the matching asks, up to `limit`. */
export function countAsks({ asks }: Tables, filter: AskFilter, limit: number): number {
  return Math.min(limit, asks.filter((ask) => isAsked(ask, filter)).length)
}

function isAsked(ask: AskRecord, filter: AskFilter): boolean {
  const { status, to, run, procedure, kind, overdue, lapsed, now } = filter
  const isLate = ask.dueAt !== null && ask.dueAt <= now
  const isLapsed = ask.closesAt !== null && ask.closesAt <= now
  return (
    ask.status === status &&
    (to === null || namesOf(ask).some(({ name, late }) => to.includes(name) && (isLate || !late))) &&
    (run === null || ask.run.id === run) &&
    (procedure === null || ask.run.procedure === procedure) &&
    (kind === null || ask.kind === kind) &&
    (overdue === null || isLate === overdue) &&
    (lapsed === null || isLapsed === lapsed)
  )
}
