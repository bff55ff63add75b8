import {
  copyKeptMs,
  type DecisionQuery,
  type DecisionRow,
  type DecisionSeal,
  type EndedPage,
  type QuarantinedRemoval,
  type Removed,
  type RunKey,
} from '@pawl/core/storage'
import { showAsk } from '../reads/asks.ts'
import type { RunRecord, Tables } from '../tables.ts'
import { sendOut } from './others.ts'

export function removeRun(tables: Tables, key: RunKey): Removed {
  const run = tables.runsByKey.get(key)
  if (!run) return 'missing'
  if (run.state === 'live') return 'live'
  takeOut(tables, run)
  return 'removed'
}

export function removeQuarantined(
  tables: Tables,
  { run: key, seen, messages }: QuarantinedRemoval,
  at: number,
): Exclude<Removed, 'live'> | 'changed' {
  const run = tables.runsByKey.get(key)
  if (!run) return 'missing'
  const isQuarantined = run.state === 'live' && run.mark === 'quarantined' && run.worker === null
  if (!isQuarantined || run.mail !== seen) return 'changed'
  for (const message of messages) sendOut(tables, message, at)
  takeOut(tables, run)
  return 'removed'
}

function takeOut(tables: Tables, run: RunRecord): void {
  const asks = tables.asks.filter((ask) => ask.run === run)
  const answered = asks.filter(({ status }) => status === 'answered')
  tables.decisions.push(...answered.map((ask) => ({ ...showAsk(ask), digest: null })))
  tables.asks.splice(0, tables.asks.length, ...tables.asks.filter((ask) => ask.run !== run))
  tables.runs.delete(run.id)
  tables.runsByKey.delete(run.run)
}

/** Forgets abandoned copies. Of a removed run nothing is left. */
export function clear({ copies }: Tables, now: number): boolean {
  for (const [token, { createdAt }] of copies) if (createdAt < now - copyKeptMs) copies.delete(token)
  return false
}

export function dropGeneration({ runsByKey }: Tables, key: RunKey, before: number, limit: number): number {
  const run = runsByKey.get(key)
  const next = run?.events.find(({ seq, type }) => type === 'started' && seq > run.dropped)
  if (!run || !next || next.seq > run.base || next.at >= before) return 0
  const count = Math.min(limit, next.seq - run.dropped)
  run.events.splice(0, count)
  run.dropped += count
  return count
}

export function listEnded({ runsByKey }: Tables, before: RunKey | null, span: number): EndedPage {
  const keys = [...runsByKey.keys()].filter((key) => before === null || key < before).sort((a, b) => b - a)
  const part = keys.slice(0, span)
  return {
    runs: part.flatMap((key) => {
      const { run, id, procedure, state, endedAt, parent } = runsByKey.get(key) as RunRecord
      if (state === 'live' || endedAt === null) return []
      return { run, id, procedure, state, endedAt, parent: parent?.run ?? null }
    }),
    continued: part.flatMap((key) => {
      const { run, procedure, state, base } = runsByKey.get(key) as RunRecord
      return state === 'live' && base > 0 ? { run, procedure } : []
    }),
    next: keys.length > span ? (part.at(-1) ?? null) : null,
  }
}

export function sealDecisions({ decisions }: Tables, seals: readonly DecisionSeal[]): void {
  for (const { run, position, digest } of seals) {
    const index = decisions.findIndex((row) => row.runKey === run && row.position === position)
    const row = decisions[index]
    if (row?.digest === null) decisions[index] = { ...row, digest }
  }
}

export function listDecisions(
  { decisions }: Tables,
  { run, procedure, before, limit }: DecisionQuery,
): readonly DecisionRow[] {
  return decisions
    .filter(
      (row) =>
        (run === null || row.run === run) &&
        (procedure === null || row.procedure === procedure) &&
        (before === null || compare(before, { run: row.runKey, position: row.position }) > 0),
    )
    .sort((a, b) => compare({ run: b.runKey, position: b.position }, { run: a.runKey, position: a.position }))
    .slice(0, limit)
}

export function forgetDecisions(
  { decisions }: Tables,
  procedure: string,
  before: number,
  limit: number,
): number {
  const old = decisions
    .filter((row) => row.procedure === procedure && (row.closedAt ?? 0) < before)
    .slice(0, limit)
  decisions.splice(0, decisions.length, ...decisions.filter((row) => !old.includes(row)))
  return old.length
}

interface Place {
  readonly run: RunKey
  readonly position: number
}

function compare(a: Place, b: Place): number {
  return a.run - b.run || a.position - b.position
}
