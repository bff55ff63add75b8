import {
  askStatusCode,
  copyKeptMs,
  type DecisionQuery,
  type DecisionRow,
  type DecisionSeal,
  type EndedPage,
  type EndedRow,
  eventTypeCode,
  hiddenState,
  hideId,
  markCode,
  type QuarantinedRemoval,
  type Removed,
  type RunKey,
  showEndedPage,
  stateCode,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { type StoredAsk, showAsk } from '../reads/asks.ts'
import { readNames } from '../reads/names.ts'
import type { NoticeWrites } from './notices.ts'
import type { OtherRuns } from './others.ts'

export interface Removals {
  remove(run: RunKey): Removed
  removeQuarantined(removal: QuarantinedRemoval, at: number): Exclude<Removed, 'live'> | 'changed'
  clear(limit: number, at: number): boolean
  dropGeneration(run: RunKey, before: number, limit: number): number
  ended(before: RunKey | null, span: number): EndedPage
  decisions(query: DecisionQuery): readonly DecisionRow[]
  sealDecisions(seals: readonly DecisionSeal[]): void
  forgetDecisions(procedure: string, before: number, limit: number): number
  decidedProcedures(): readonly string[]
}

/** Maximum free pages that one transaction gives back to the file system. */
const pagesFreed = 400

const { live, completed } = stateCode.numberOf
// The condition of the index of states comes first.
const isRemoved = `state > ${completed} and state = ${hiddenState} and created_at = 0`
const askColumns =
  'position, status, urgency, opened_at, due_at, closes_at, closed_at, kind, key, audience, escalate_to, answered_by, payload, answer'

export function prepareRemovals(
  database: Database,
  others: Pick<OtherRuns, 'send'>,
  notices: () => NoticeWrites,
): Removals {
  return {
    ...prepareRemove(database, others, notices),
    ...prepareClear(database),
    ...prepareDrop(database),
    ...prepareReads(database),
  }
}

function prepareRemove(
  database: Database,
  others: Pick<OtherRuns, 'send'>,
  notices: () => NoticeWrites,
): Pick<Removals, 'remove' | 'removeQuarantined'> {
  const find = database.prepare<
    [RunKey],
    { state: number; mark: number; worker: number | null; mail: number }
  >('select state, mark, worker, mail from runs where run = ?')
  const archive = database.prepare(
    `insert into decisions (run, id, procedure, started_by, ${askColumns})
     select asks.run, id, procedure, started_by, ${askColumns} from asks
     join runs on runs.run = asks.run join run_info on run_info.run = asks.run
     where asks.run = ? and status = ${askStatusCode.numberOf.answered}`,
  )
  const hide = database.prepare(
    `update runs set state = ${hiddenState}, mark = 0, wake_at = null, cancel_at = null, created_at = 0, id = ? || run
     where run = ?`,
  )
  const readTags = database.prepare<[RunKey], string>('select tags from run_info where run = ?').pluck()
  const removeTag = database.prepare('delete from run_tags where tag = ? and run = ?')
  const rest = ['run_info', 'run_state', 'asks', 'ask_to', 'checkpoints'].map((table) =>
    database.prepare(`delete from ${table} where run = ?`),
  )
  const takeOut = (run: RunKey): 'removed' => {
    archive.run(run)
    for (const tag of readNames(readTags.get(run) ?? '') ?? []) removeTag.run(tag, run)
    for (const statement of rest) statement.run(run)
    notices().removeOf(run)
    hide.run(hideId('removed '), run)
    return 'removed'
  }
  return {
    remove(run) {
      const row = find.get(run)
      if (row === undefined || row.state === hiddenState) return 'missing'
      return row.state === live ? 'live' : takeOut(run)
    },
    removeQuarantined({ run, seen, messages }, at) {
      const row = find.get(run)
      if (row === undefined || row.state === hiddenState) return 'missing'
      const { state, mark, worker, mail } = row
      const isQuarantined = state === live && mark === markCode.numberOf.quarantined && worker === null
      if (!isQuarantined || mail !== seen) return 'changed'
      for (const message of messages) others.send(message, at)
      return takeOut(run)
    },
  }
}

function prepareClear(database: Database): Pick<Removals, 'clear'> {
  // Its parts that are still to come are lost.
  const giveUp = database.prepare(
    `update runs set created_at = 0, id = ? || run
     where state > ${completed} and state = ${hiddenState} and created_at > 0 and created_at < ?`,
  )
  const clearEvents = database.prepare(
    `delete from events where rowid in (
       select e.rowid from runs cross join events e on e.run = runs.run where ${isRemoved} limit ?)`,
  )
  const clearMessages = database.prepare(
    `delete from messages where (run, n) in (
       select m.run, m.n from runs cross join messages m on m.run = runs.run where ${isRemoved} limit ?)`,
  )
  // The row with the highest key stays: a new run would get its key.
  const clearRuns = database.prepare(
    `delete from runs where ${isRemoved} and run < (select max(run) from runs)
       and not exists (select 1 from events e where e.run = runs.run)
       and not exists (select 1 from messages m where m.run = runs.run)`,
  )
  return {
    clear(limit, at) {
      giveUp.run(hideId('removed '), at - copyKeptMs)
      const [events, messages] = [clearEvents.run(limit).changes, clearMessages.run(limit).changes]
      clearRuns.run()
      database.exec(`pragma incremental_vacuum(${pagesFreed})`)
      return events === limit || messages === limit
    },
  }
}

function prepareDrop(database: Database): Pick<Removals, 'dropGeneration'> {
  const findBase = database
    .prepare<[RunKey], number>(`select base from runs where run = ? and state <> ${hiddenState}`)
    .pluck()
  const findFirst = database
    .prepare<[RunKey], number | null>('select min(seq) from events where run = ?')
    .pluck()
  const findNext = database.prepare<[RunKey, number, number], { seq: number; at: number }>(
    `select seq, at from events where run = ? and seq > ? and seq <= ? and type = ${eventTypeCode.numberOf.started}
     order by seq limit 1`,
  )
  const drop = database.prepare(
    'delete from events where rowid in (select rowid from events where run = ? and seq < ? order by seq limit ?)',
  )
  return {
    dropGeneration(run, before, limit) {
      const base = findBase.get(run) ?? 0
      const first = findFirst.get(run) ?? null
      if (first === null || first >= base) return 0
      const next = findNext.get(run, first, base)
      if (next === undefined || next.at >= before) return 0
      const { changes } = drop.run(run, next.seq, limit)
      database.exec(`pragma incremental_vacuum(${pagesFreed})`)
      return changes
    },
  }
}

function prepareReads(
  database: Database,
): Omit<Removals, 'remove' | 'removeQuarantined' | 'clear' | 'dropGeneration'> {
  const span = database.prepare<[RunKey, number], EndedRow>(
    `select r.run, r.id, r.state, r.base, r.procedure, f.ended_at as endedAt, f.parent
     from runs r left join run_info f on f.run = r.run where r.run < ? order by r.run desc limit ?`,
  )
  const list = database.prepare<unknown[], StoredAsk & Pick<DecisionRow, 'digest'>>(
    `select run, id, procedure, started_by, digest, ${askColumns} from decisions
     where (? is null or id = ?) and (? is null or procedure = ?) and (run, position) < (?, ?)
     order by run desc, position desc limit ?`,
  )
  const seal = database.prepare(
    'update decisions set digest = ? where run = ? and position = ? and digest is null',
  )
  const forget = database.prepare(
    `delete from decisions where (run, position) in (
       select run, position from decisions where procedure = ? and closed_at < ? limit ?)`,
  )
  const nextProcedure = database
    .prepare<[string], string | null>('select min(procedure) from decisions where procedure > ?')
    .pluck()
  return {
    ended(before, count) {
      return showEndedPage(span.all(before ?? Number.MAX_SAFE_INTEGER, count), count)
    },
    decisions({ run, procedure, before, limit }) {
      const place = before ?? { run: Number.MAX_SAFE_INTEGER, position: 0 }
      const rows = list.all(run, run, procedure, procedure, place.run, place.position, limit)
      return rows.map((row) => ({ ...showAsk(row), digest: row.digest }))
    },
    sealDecisions(seals) {
      for (const one of seals) seal.run(one.digest, one.run, one.position)
    },
    forgetDecisions: (procedure, before, limit) => forget.run(procedure, before, limit).changes,
    decidedProcedures() {
      const found: string[] = []
      for (let next = nextProcedure.get(''); next != null; next = nextProcedure.get(next)) found.push(next)
      return found
    },
  }
}
