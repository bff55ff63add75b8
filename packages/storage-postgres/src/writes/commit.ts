import type { Unit, UnitOutcome, WorkerKey } from '@pawl/core/storage'
import type { Database, Runner } from '../connection/database.ts'
import { classify } from '../connection/faults.ts'
import type { Ownership } from '../connection/ownership.ts'
import { divide } from './batches.ts'
import {
  bindFull,
  bindOne,
  bindSlim,
  isOne,
  isPlain,
  type VerdictRow,
  verdicts,
  writeCommitStatements,
} from './commit-statements.ts'
import { Lanes } from './lanes.ts'
import { prepareReclaim } from './reclaim.ts'

export type Commit = (worker: WorkerKey, units: readonly Unit[]) => Promise<readonly UnitOutcome[]>

/** Two commits at work at most, each on a connection of its own; the others wait their turn. */
export function prepareCommit(database: Database, ownership: Ownership): Commit {
  const { one, slim, full } = writeCommitStatements(database.names)
  const lanes = new Lanes(database, 2)
  const reclaim = prepareReclaim(database)

  async function runShape(
    runner: Runner,
    worker: WorkerKey,
    units: readonly Unit[],
  ): Promise<readonly VerdictRow[]> {
    const [first] = units
    if (first && isOne(units)) {
      const rows = await runner.run<VerdictRow>(one, bindOne(worker, first))
      // None: the row did not match, and never will again. The larger shape says why.
      return rows.length > 0 ? rows : runner.run<VerdictRow>(slim, bindSlim(worker, units))
    }
    return units.every(isPlain)
      ? runner.run<VerdictRow>(slim, bindSlim(worker, units))
      : runner.run<VerdictRow>(full, bindFull(worker, units))
  }

  async function write(
    runner: Runner,
    worker: WorkerKey,
    units: readonly Unit[],
  ): Promise<readonly UnitOutcome[]> {
    try {
      return await database.repeat(
        async () => showOutcomes(units, await runShape(runner, worker, units)),
        (fault) => fault === 'race' || fault === 'later',
      )
    } catch (error) {
      const fault = classify(error)
      if (fault === 'unknown') return reclaim(runner, worker, units)
      if (fault !== 'data') throw error
      // Nothing of the batch is written. Halve it, down to the unit that cannot be.
      if (units.length === 1) return [{ outcome: 'conflict' }]
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
      const outcomes: UnitOutcome[] = []
      for (const batch of divide(units, sizeOf)) {
        outcomes.push(...(await lanes.lend((runner) => write(runner, worker, batch))))
      }
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
        outcome?.outcome === 'ok' ? !outcome.parked && unit.then.do !== 'end' : outcome?.outcome !== 'fenced'
      if (!isKept) ownership.remove(worker, unit.run)
    }
    database.plans.noteRows(rows)
  }
}

function showOutcomes(units: readonly Unit[], rows: readonly VerdictRow[]): readonly UnitOutcome[] {
  const byPlace = new Map(rows.map((row) => [row.i, row]))
  return units.map((unit, index) => {
    const row = byPlace.get(index + 1)
    switch (row && verdicts[row.verdict]) {
      case 'ok':
        return {
          outcome: 'ok',
          at: row?.at ?? 0,
          epoch: unit.epoch,
          mail: row?.mail ?? 0,
          parked: row?.parked ?? false,
        }
      case 'mail':
        return { outcome: 'mail', mail: row?.mail ?? 0 }
      case 'conflict':
        return { outcome: 'conflict' }
      default:
        return { outcome: 'fenced' }
    }
  })
}

/** Bytes of payload, roughly. */
function sizeOf({ events, opens, info }: Unit): number {
  let bytes = 200 + (info?.length ?? 0)
  for (const { payload } of events) bytes += 200 + (payload?.length ?? 0)
  for (const { payload, answered } of opens) bytes += 400 + payload.length + (answered?.payload.length ?? 0)
  return bytes
}
