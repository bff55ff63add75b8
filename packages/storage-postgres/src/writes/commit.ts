import {
  payloadBytesOf,
  type RefusedWhy,
  type Unit,
  type UnitOutcome,
  type WorkerKey,
} from '@pawl/core/storage'
import { CommitConnections } from '../connection/commit-connections.ts'
import type { Database, Runner } from '../connection/database.ts'
import type { Ownership } from '../connection/ownership.ts'
import { commitRetryMs } from '../connection/timeouts.ts'
import { classify, codeOf, describe } from '../faults.ts'
import { divide } from './batches.ts'
import { bindSingle, writeSingleStatements } from './commit-single.ts'
import {
  bindFull,
  bindSlim,
  isPlain,
  isWide,
  type VerdictRow,
  verdicts,
  writeCommitStatements,
} from './commit-statements.ts'
import { bindWide, writeWideStatement } from './commit-wide.ts'
import { prepareReclaim } from './reclaim.ts'

export type Commit = (worker: WorkerKey, units: readonly Unit[]) => Promise<readonly UnitOutcome[]>

/** Runs at most two commits at once, each on its own connection; others wait. */
export function prepareCommit(database: Database, ownership: Ownership): Commit {
  const single = writeSingleStatements(database.names)
  const { slim, full } = writeCommitStatements(database.names)
  const wide = writeWideStatement(database.names)
  const connections = new CommitConnections(database, 2)
  const reclaim = prepareReclaim(database)

  async function runShape(
    runner: Runner,
    worker: WorkerKey,
    units: readonly Unit[],
  ): Promise<readonly VerdictRow[]> {
    const one = bindSingle(worker, units)
    if (one !== null) {
      const rows = await runner.run<VerdictRow>(single[one.statement], one.values)
      if (rows.length > 0) return rows
      // The row did not match and never will. The larger statement returns the reason.
    }
    if (units.every(isPlain)) return runner.run<VerdictRow>(slim, bindSlim(worker, units))
    if (!units.some(isWide)) return runner.run<VerdictRow>(full, bindFull(worker, units))
    const rows = await runner.run<VerdictRow>(wide, bindWide(worker, units))
    const made = rows[0]?.made ?? null
    if (made !== null) database.plans.noteRun(made)
    return rows
  }

  async function write(
    runner: Runner,
    worker: WorkerKey,
    units: readonly Unit[],
  ): Promise<readonly Written[]> {
    try {
      return await database.repeat(
        async () => {
          const rows = await runShape(runner, worker, units)
          return showOutcomes(units, rows, database.hasFailedOver)
        },
        (fault) => fault === 'race' || fault === 'later',
        commitRetryMs,
      )
    } catch (error) {
      const fault = classify(error)
      if (fault === 'unknown') return reclaim(runner, worker, units)
      if (fault !== 'data') return units.map(() => new NotWritten(error))
      // Nothing of the batch was written. Halve it until the refused unit is alone.
      if (units.length === 1) return [conflictBy(error)]
      const middle = units.length >> 1
      const front = await write(runner, worker, units.slice(0, middle))
      return [...front, ...(await write(runner, worker, units.slice(middle)))]
    }
  }

  return async (worker, units) => {
    const runs = units.map(({ run }) => run)
    if (new Set(runs).size < runs.length) throw new TypeError('A run has two units in one commit.')
    ownership.enter(runs)
    try {
      const written: Written[] = []
      for (const batch of divide(units, sizeOf)) {
        written.push(...(await connections.lend((runner) => write(runner, worker, batch))))
      }
      const outcomes = settle(units, written)
      note(worker, units, outcomes)
      return outcomes
    } finally {
      ownership.leave(runs)
    }
  }

  function note(worker: WorkerKey, units: readonly Unit[], outcomes: readonly UnitOutcome[]): void {
    let rows = 0
    for (const [index, unit] of units.entries()) {
      const outcome = outcomes[index]
      rows += unit.events.length
      const isKept =
        outcome?.outcome === 'ok' ? !outcome.parked && unit.next.do !== 'end' : outcome?.outcome !== 'fenced'
      if (!isKept) ownership.remove(worker, unit.run, unit.epoch)
    }
    database.plans.noteRows(rows)
  }
}

/** A duplicate row is a conflict; other faults are reported as they are. */
function conflictBy(error: unknown): UnitOutcome {
  if (codeOf(error) === '23505') return { outcome: 'conflict' }
  return { outcome: 'conflict', why: `the database does not take its events: ${describe(error)}` }
}

/** The server refused the batch, and nothing of it was written. */
class NotWritten {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}
type Written = UnitOutcome | NotWritten

/**
 * Rejects only if nothing was written. Otherwise an unwritten unit is `lost`: its owner keeps the run and writes the
 * unit again.
 */
function settle(units: readonly Unit[], written: readonly Written[]): readonly UnitOutcome[] {
  const [first] = written
  if (first instanceof NotWritten && written.every((one) => one instanceof NotWritten)) throw first.error
  return units.map((unit, index) => {
    const one = written[index]
    return one === undefined || one instanceof NotWritten ? { outcome: 'lost', epoch: unit.epoch } : one
  })
}

function showOutcomes(
  units: readonly Unit[],
  rows: readonly VerdictRow[],
  hasFailedOver: boolean,
): readonly UnitOutcome[] {
  const [first] = rows
  if (first === undefined) return units.map(() => ({ outcome: 'fenced' }))
  const byPlace = new Map(rows.map((row) => [row.i, row]))
  return units.map((unit, index): UnitOutcome => {
    const { epoch, seen, next } = unit
    const written: VerdictRow = { i: 0, verdict: 0, mail: seen, parked: next.do === 'park', at: first.at }
    const row = byPlace.get(index + 1) ?? written
    const { mail, parked, at } = row
    switch (verdicts[row.verdict]) {
      case 'ok':
        return { outcome: 'ok', at, epoch, mail, parked }
      case 'mail':
        return { outcome: 'mail', mail }
      case 'conflict':
        return { outcome: 'conflict' }
      case 'refused':
        return { outcome: 'refused', item: row.item as number, why: row.why as RefusedWhy }
      case 'behind':
        // Epochs and heads never decrease. If they did, a server without acknowledged data took over.
        return { outcome: hasFailedOver ? 'conflict' : 'fenced' }
      default:
        return { outcome: 'fenced' }
    }
  })
}

/** Returns the approximate payload bytes of a unit. */
function sizeOf({ events, effects }: Unit): number {
  let bytes = 200
  for (const { payload } of events) bytes += 200 + (payload?.length ?? 0)
  for (const effect of effects) bytes += 200 + payloadBytesOf(effect)
  return bytes
}
