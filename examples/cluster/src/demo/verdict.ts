import type { Ending } from '../../../shared/src/child.ts'
import { count, euro } from '../../../shared/src/tell.ts'
import type { Payment } from '../bank.ts'
import type { Order } from './orders.ts'
import type { EventRecord, RunRecord } from './records.ts'

export interface Evidence {
  readonly orders: readonly Order[]
  readonly payments: readonly Payment[]
  readonly runs: readonly RunRecord[]
  readonly events: readonly EventRecord[]
  /** How the workers that were to be killed ended. */
  readonly kills: readonly Ending[]
}

/** One promise of the engine, and what contradicts it. */
export interface Finding {
  readonly promise: string
  /** Empty if the promise was kept. */
  readonly faults: readonly string[]
}

/** Compares what is there with what was ordered, and with nothing else. */
export function judge(evidence: Evidence): readonly Finding[] {
  const { orders, payments, events, kills } = evidence
  return [
    { promise: `${count(kills.length, 'worker')} killed by SIGKILL`, faults: findSurvivors(evidence) },
    { promise: `${count(orders.length, 'order')} completed, none lost`, faults: findUnfinished(evidence) },
    {
      promise: `${count(payments.length, 'payment')}, each made once, ${euro(payments.map(({ cents }) => cents / 100))} in all`,
      faults: findWrongPayments(evidence),
    },
    {
      promise: `${count(events.length, 'event')} without a gap, one result for each operation`,
      faults: findBrokenLogs(evidence),
    },
  ]
}

function findSurvivors({ kills }: Evidence): string[] {
  if (kills.length === 0) return ['no worker was killed']
  return kills
    .filter(({ signal }) => signal !== 'SIGKILL')
    .map(({ code, signal }) => `a worker ended with ${signal ?? `exit code ${code}`}`)
}

function findUnfinished({ orders, runs }: Evidence): string[] {
  const statuses = new Map(runs.map(({ id, status }) => [id, status]))
  const ordered = new Set(orders.map(({ id }) => id))
  return [
    ...orders
      .filter(({ id }) => statuses.get(id) !== 'completed')
      .map(({ id }) => `${id} is ${statuses.get(id) ?? 'lost'}`),
    ...runs.filter(({ id }) => !ordered.has(id)).map(({ id }) => `${id} was never ordered`),
  ]
}

function findWrongPayments({ orders, payments }: Evidence): string[] {
  const due = new Map(orders.map(({ id, cents }) => [id, cents]))
  const made = new Map<string, Payment[]>()
  for (const payment of payments) made.set(payment.order, [...(made.get(payment.order) ?? []), payment])
  return [
    ...payments
      .filter(({ order }) => !due.has(order))
      .map(({ order }) => `${order} was paid and never ordered`),
    ...[...due].flatMap(([order, cents]) => {
      const own = made.get(order) ?? []
      if (own.length !== 1) return [`${order} was paid ${own.length} times`]
      return own[0]?.cents === cents ? [] : [`${order} was paid ${own[0]?.cents} cents in place of ${cents}`]
    }),
  ]
}

function findBrokenLogs({ runs, events }: Evidence): string[] {
  const logs = new Map<string, EventRecord[]>()
  for (const event of events) logs.set(event.run, [...(logs.get(event.run) ?? []), event])
  return runs.flatMap(({ id, head }) => {
    const log = logs.get(id) ?? []
    const settled = log.flatMap(({ settles }) => settles ?? [])
    return [
      ...(log.length === head && log.every(({ seq }, place) => seq === place)
        ? []
        : [`the log of ${id} has a gap`]),
      ...(new Set(settled).size === settled.length ? [] : [`${id} has two results of one operation`]),
    ]
  })
}
