import { decodePayload } from '@pawl/core/internal'
import { type Effect, readEffects } from './effects.ts'
import type { EpochChange, EventRow, Rows, RunRow } from './place.ts'

/** What was acknowledged to the outside, and must therefore be there. */
export interface Acknowledged {
  readonly runs: Set<string>
  /** Who answered, by run. */
  readonly answers: Map<string, string>
  /** What was paid, by run. */
  readonly signals: Map<string, number>
  /** Runs that were asked to end. */
  readonly cancels: Set<string>
}

export function acknowledgeNothing(): Acknowledged {
  return { runs: new Set(), answers: new Map(), signals: new Map(), cancels: new Set() }
}

/** How the runs of one procedure are judged. */
export interface Judge {
  /** The name under which the ledger has the effect of a result; null if it has none. */
  nameOf(event: EventRow): string | null
  /** Everything that is wrong with how a run has ended. */
  checkEnd(run: RunRow, log: readonly EventRow[]): readonly string[]
}

export interface Findings {
  /** Everything that is not as it was promised. */
  readonly problems: readonly string[]
  readonly events: number
  readonly effects: number
  /** How often a run changed hands. */
  readonly changes: number
  /** Events that a former owner wrote after its time. Each is a problem. */
  readonly stale: number
  /** Effects beyond the first of their step: a crash fell between effect and record. */
  readonly repeats: readonly Repeat[]
}

/** A step that had its effect more than once, and the processes that did it, in order. */
export interface Repeat {
  readonly run: string
  readonly step: string
  readonly pids: readonly number[]
}

const settled = 3
const ended = 6

/** Looks through what is stored of orders and what was done for them. */
export function check(rows: Rows, ledger: string, acknowledged: Acknowledged): Findings {
  return findProblems(rows, ledger, acknowledged, {
    nameOf: ({ name }) => (/^(a|bb|ccc|dddd|eeeee \w+)$/.test(name) ? name : null),
    checkEnd: (run, log) => checkEnd(run, log, acknowledged),
  })
}

/** Looks through what is stored and what was done. */
export function findProblems(rows: Rows, ledger: string, acknowledged: Acknowledged, judge: Judge): Findings {
  const logs = groupByRun(rows.events)
  const changes = groupByRun(rows.changes)
  const effects = readLedger(ledger)
  const problems: string[] = rows.damage.map((what) => `the database is damaged: ${what}`)
  for (const id of acknowledged.runs)
    if (!rows.runs.some((run) => run.id === id)) problems.push(`run ${id} was acknowledged and is lost`)
  let stale = 0
  for (const run of rows.runs) {
    const log = logs.get(run.run) ?? []
    const late = findStale(log, changes.get(run.run) ?? [])
    stale += late.length
    const found = [
      ...late.map(({ seq }) => `event ${seq} was written by a former owner`),
      ...checkLog(run, log),
      ...judge.checkEnd(run, log),
      ...checkEffects(log, effects.get(run.id) ?? new Map(), judge),
    ]
    problems.push(...found.map((problem) => `run ${run.id}: ${problem}`))
  }
  return {
    problems,
    stale,
    events: rows.events.length,
    changes: rows.changes.length,
    effects: [...effects.values()].reduce((sum, steps) => sum + steps.size, 0),
    repeats: findRepeats(effects),
  }
}

/** What an older epoch wrote where a newer one had already begun. */
function findStale(log: readonly EventRow[], changes: readonly EpochChange[]): readonly EventRow[] {
  return log.filter(({ epoch, seq }) => changes.some((change) => change.epoch > epoch && change.head <= seq))
}

function checkLog({ head }: RunRow, log: readonly EventRow[]): string[] {
  const problems = log.length === head ? [] : [`its head is ${head}, and it has ${log.length} events`]
  log.forEach(({ seq }, place) => {
    if (seq !== place) problems.push(`a gap at event ${place}`)
  })
  const positions = log.filter(({ type }) => type === settled).map(({ position }) => position)
  if (new Set(positions).size !== positions.length) problems.push('two results of one operation')
  return problems
}

function checkEnd(
  { id, state, mark }: RunRow,
  log: readonly EventRow[],
  acknowledged: Acknowledged,
): string[] {
  if (state !== 1 || mark !== 0) return [`it is not completed (state ${state}, mark ${mark})`]
  const last = log.at(-1)
  if (last?.type !== ended || log.filter(({ type }) => type === ended).length !== 1)
    return ['it does not end once']
  const { by, cents } = decodePayload(last.payload as Uint8Array) as {
    readonly by: string
    readonly cents: number
  }
  const answer = acknowledged.answers.get(id)
  const paid = acknowledged.signals.get(id)
  return [
    ...(answer === undefined || answer === by
      ? []
      : [`the answer of ${answer} was acknowledged, that of ${by} counted`]),
    ...(paid === undefined || paid === cents ? [] : [`${paid} was acknowledged, ${cents} received`]),
  ]
}

// ── effects

/** Of one run, by step. */
type Effects = Map<string, readonly Effect[]>

function readLedger(ledger: string): Map<string, Effects> {
  const effects = new Map<string, Effects>()
  for (const effect of readEffects(ledger)) {
    const steps = effects.get(effect.run) ?? new Map<string, readonly Effect[]>()
    effects.set(effect.run, steps.set(effect.step, [...(steps.get(effect.step) ?? []), effect]))
  }
  return effects
}

function checkEffects(log: readonly EventRow[], effects: Effects, judge: Judge): string[] {
  const problems: string[] = []
  const recorded = log.flatMap((event) => {
    const name = event.type === settled ? judge.nameOf(event) : null
    return name === null ? [] : [{ name, at: event.at }]
  })
  for (const { name } of recorded)
    if (!effects.has(name)) problems.push(`step ${name} is recorded and never had its effect`)
  for (const { name, at } of recorded)
    if (effects.get(name)?.some((effect) => knewOf(at, effect)))
      problems.push(`step ${name} was done again after it had been recorded`)
  const keys = [...effects].map(([step, times]) => ({ step, keys: new Set(times.map(({ key }) => key)) }))
  for (const { step, keys: own } of keys)
    if (own.size !== 1) problems.push(`step ${step} had several idempotency keys`)
  if (new Set(keys.flatMap(({ keys: own }) => [...own])).size < keys.length)
    problems.push('two steps share an idempotency key')
  return problems
}

/**
 * Whether who had the effect must have known of the record. A process that was there before it may be a zombie,
 * which does in vain what the new owner has recorded. One that began after it can only have claimed after it,
 * and so read it: an owner records while nobody else has a later claim, and `at` is taken as it records.
 */
function knewOf(recordedAt: number, { processAt }: Effect): boolean {
  return processAt > recordedAt
}

function findRepeats(effects: Map<string, Effects>): readonly Repeat[] {
  return [...effects].flatMap(([run, steps]) =>
    [...steps]
      .filter(([, times]) => times.length > 1)
      .map(([step, times]) => ({ run, step, pids: times.map(({ pid }) => pid) })),
  )
}

function groupByRun<Row extends { readonly run: number }>(rows: readonly Row[]): Map<number, Row[]> {
  const groups = new Map<number, Row[]>()
  for (const row of rows) groups.set(row.run, [...(groups.get(row.run) ?? []), row])
  return groups
}
