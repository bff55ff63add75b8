import { type RunKey, stateCode, type Unit, type UnitOutcome, type WorkerKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

// Every write of a run starts with this fence: it requires the same worker, epoch and head.
const write = 'update runs set head = ?, link = coalesce(?, link), mark = 0'
const advance = `${write}, tries = 0`
const fence = 'where run = ? and epoch = ? and head = ? and worker = ? and state = 0'
const upToDate = 'and mail = ?'

/** The writes to the row of a run. They change nothing if its worker, epoch or head is another one. */
export interface Fence {
  /** Writes the unit to the run's row if no new message has arrived, too. */
  advanceUpToDate(worker: WorkerKey, unit: Unit): boolean
  /** Writes a unit that new messages do not affect. A run with unseen messages is not parked. */
  advanceBehind(worker: WorkerKey, unit: Unit): boolean
  /** Returns why neither has written. */
  explain(worker: WorkerKey, unit: Unit): UnitOutcome
}

export function prepareFence(database: Database): Fence {
  const keep = database.prepare(`${advance} ${fence}`)
  // Without an event a kept run has made no progress: the deaths of its workers still count.
  const keepAsIs = database.prepare(`${write} ${fence}`)
  const keepAsIsUpToDate = database.prepare(`${write} ${fence} ${upToDate}`)
  // Nearly every unit has seen all messages. Its statement checks the counter, which saves a read.
  const keepUpToDate = database.prepare(`${advance} ${fence} ${upToDate}`)
  const park = database.prepare(`${advance}, worker = null, wake_at = ? ${fence} ${upToDate}`)
  const ending = 'state = ?, worker = null, wake_at = null'
  const end = database.prepare(`${advance}, ${ending} ${fence}`)
  const endUpToDate = database.prepare(`${advance}, ${ending} ${fence} ${upToDate}`)
  const readRow = database.prepare<[RunKey], FenceRow>(
    'select epoch, head, worker, mail, state from runs where run = ?',
  )

  function advanceUpToDate(worker: WorkerKey, unit: Unit): boolean {
    const { run, epoch, head, events, link, seen, next } = unit
    const length = head + events.length
    const keeping = events.length > 0 ? keepUpToDate : keepAsIsUpToDate
    switch (next.do) {
      case 'keep':
        return keeping.run(length, link, run, epoch, head, worker, seen).changes === 1
      case 'park':
        return park.run(length, link, next.wakeAt, run, epoch, head, worker, seen).changes === 1
      case 'end': {
        const state = stateCode.numberOf[next.state]
        return endUpToDate.run(length, link, state, run, epoch, head, worker, seen).changes === 1
      }
    }
  }

  function advanceBehind(worker: WorkerKey, unit: Unit): boolean {
    const { run, epoch, head, events, link, next } = unit
    const length = head + events.length
    const keeping = events.length > 0 ? keep : keepAsIs
    if (next.do !== 'end') return keeping.run(length, link, run, epoch, head, worker).changes === 1
    const state = stateCode.numberOf[next.state]
    return end.run(length, link, state, run, epoch, head, worker).changes === 1
  }

  function explainRefusal(worker: WorkerKey, unit: Unit): UnitOutcome {
    const row = readRow.get(unit.run)
    if (!row || row.epoch !== unit.epoch || row.worker !== worker || row.state !== 0)
      return { outcome: 'fenced' }
    if (row.head !== unit.head) return { outcome: 'conflict' }
    if (!Number.isSafeInteger(row.mail))
      return { outcome: 'conflict', why: `its message count is ${row.mail}, which is impossible` }
    return { outcome: 'mail', mail: row.mail }
  }

  return { advanceUpToDate, advanceBehind, explain: explainRefusal }
}

interface FenceRow {
  readonly epoch: number
  readonly head: number
  readonly worker: number | null
  readonly mail: number
  readonly state: number
}
