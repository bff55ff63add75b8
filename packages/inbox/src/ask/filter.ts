import type { AskKind, RiskLevel } from '@pawl/server/internal'
import { signal } from '@preact/signals'
import { en } from '../en.ts'
import { askHref, go, inboxHref, type Query, route, withQuery } from '../router.ts'
import { currentGrant } from '../session.ts'

/** Which asks the list shows. It is in the address of the page. */
export interface Filter {
  /** `mine`: what is addressed to the user, to a group of theirs, or to everyone. */
  readonly whose: 'mine' | 'all'
  readonly status: 'open' | 'answered'
  readonly kind: AskKind | ''
  readonly risk: RiskLevel | ''
  readonly isOverdue: boolean
  readonly procedure: string
}

export const noFilter: Filter = {
  whose: 'mine',
  status: 'open',
  kind: '',
  risk: '',
  isOverdue: false,
  procedure: '',
}

/** The filter of the list on the page. It stays while another screen is open. */
export const filter = signal<Filter>(readFilter(route.value.query))

export function readFilter(query: Query): Filter {
  const { whose, status, kind = '', risk = '', overdue, procedure = '' } = query
  return {
    whose: whose === 'all' ? 'all' : 'mine',
    status: status === 'answered' ? 'answered' : 'open',
    kind: isKey(en.kinds, kind) ? kind : '',
    risk: isKey(en.riskMarks, risk) ? risk : '',
    isOverdue: overdue === 'true',
    procedure,
  }
}

function isKey<T extends object>(table: T, key: string): key is Extract<keyof T, string> {
  return Object.hasOwn(table, key)
}

function writeFilter({ whose, status, kind, risk, isOverdue, procedure }: Filter): Query {
  return {
    ...(whose === 'all' ? { whose } : {}),
    ...(status === 'answered' ? { status } : {}),
    ...(kind === '' ? {} : { kind }),
    ...(risk === '' ? {} : { risk }),
    ...(isOverdue ? { overdue: 'true' } : {}),
    ...(procedure === '' ? {} : { procedure }),
  }
}

/** Whether a filter shows the same as another. */
export function isSameFilter(one: Filter, other: Filter): boolean {
  return listHref(one) === listHref(other)
}

/** Where the list with a filter is. */
export function listHref(of: Filter = filter.value): string {
  return withQuery(inboxHref, writeFilter(of))
}

/** Where an ask is beside the list as it is filtered. */
export function askInListHref(id: string): string {
  return withQuery(askHref(id), writeFilter(filter.value))
}

/** Filters the list. An ask that is open beside it stays open. */
export function setFilter(next: Filter): void {
  const { value: at } = route
  go(at.screen === 'ask' ? withQuery(askHref(at.id), writeFilter(next)) : listHref(next))
}

/** The filter as the API takes it. */
export function askQueryOf({ whose, status, kind, risk, isOverdue, procedure }: Filter) {
  const { answers } = currentGrant()
  return {
    status: status === 'open' ? undefined : status,
    kind: kind || undefined,
    risk: risk || undefined,
    overdue: isOverdue ? true : undefined,
    // Who answers nothing has nothing of their own to see first.
    mine: whose === 'mine' && answers ? true : undefined,
    procedure: procedure.trim() || undefined,
  }
}
