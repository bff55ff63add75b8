import { decodePayload } from '@pawl/core/internal'
import type { LogEvent } from '@pawl/core/storage'
import type { RunRecord } from '../../src/memory/tables.ts'
import type { Registered } from './bodies.ts'
import { standingEvents } from './lives.ts'
import type { Life } from './lives-verdict.ts'
import type { World } from './world.ts'

/** Whether a run may have ended as it has. */
export function findEndFaults(
  { acknowledged, programs, hasMistakes }: World,
  run: RunRecord,
): readonly string[] {
  const mayThrow = programs.some(({ name, throws }) => name === run.procedure && throws)
  const isUndue = skipsUndos(run) && !hasMistakes && !endedWithCancel(run) && !waitedForCode(run)
  const isFailedByMistake = hasMistakes && isCancelled(run)
  return [
    run.state === 'cancelled' && !isCancelled(run) && 'it is cancelled, and its log says nothing of it',
    run.state === 'failed' && !mayThrow && !isFailedByMistake && 'it failed, and its code does not throw',
    acknowledged.cancels.has(run.id) && run.cancelAt === null && run.endedAt === null && 'its cancel is lost',
    isUndue && `it skipped its undos, and its code was there: ${skippedWhy(run)}`,
  ].filter((fault) => fault !== false)
}

/** An undo in a log, and what it undoes. */
interface Undone {
  readonly name: string
  /** The turn in which it was issued. */
  readonly turn: number
}

/**
 * Every undo ran once, the last registered first. A step has registered its undo in the turn that its result began. After a
 * failure and a cancel nothing that has registered is left.
 */
export function findUndoFaults(
  { bodies, hasMistakes }: World,
  run: RunRecord,
  { name, events, before }: Life,
  trace: readonly string[],
): readonly string[] {
  const { id, state } = run
  const undone = events.filter(isUndo).map(({ name, turn }) => ({ name, turn }))
  const names = new Set(undone.map(({ name }) => name))
  if (names.size < undone.length) return [`undone twice: ${undone.map(({ name }) => name).join(', ')}`]
  const faults = findOrderFaults(undone, (undo) => bodies.registered.get(`${name} ${undo}`))
  if (state === 'completed' || skipsUndos(run)) return faults
  // Once it is cancelled, a bug fails it, perhaps before it has seen the results of its steps.
  if (state === 'failed' && hasMistakes && isCancelled(run)) return faults
  for (const { type, kind, name: step, failed } of events)
    if (type === 'settled' && kind === 'step' && !failed)
      if (bodies.undoable.has(`${id} ${step}`) && !names.has(step)) faults.push(`${step} is not undone`)
  // What an earlier generation has done counts as done.
  for (const line of trace.slice(before.length)) {
    const [path = '', what] = line.split(': ')
    if (what === 'registered' && !names.has(path)) faults.push(`${path} was registered and is not undone`)
  }
  return faults
}

/** Whether a line warns of a child that a run that rolls back passes over, and the child has completed. */
export function isPassedOver({ tables }: World, line: string): boolean {
  const [, id = '', child] =
    /Run "(.+)" rolls back, and what its completed child "(.+)" did stays/.exec(line) ?? []
  const events = tables.runs.get(id)?.events ?? []
  const called = events.filter(isCompletion).map(({ kind, name }) =>
    // The result of a child that was spawned names the child.
    kind === 'child' ? name : tables.runs.get(name)?.procedure,
  )
  return events.some(isUndo) && called.some((name) => name === child)
}

function isCompletion({ type, kind, failed }: LogEvent): boolean {
  return type === 'settled' && (kind === 'child' || kind === 'result') && !failed
}

function isCancelled(run: RunRecord): boolean {
  return standingEvents(run).some(({ type }) => type === 'cancelled')
}

function isUndo({ type, kind }: LogEvent): boolean {
  return type === 'settled' && kind === 'undo'
}

/** Whether it was cancelled and its code did not end it, or ended it by a bug: the run says so, unless its log has no operation. */
export function skipsUndos(run: RunRecord): boolean {
  const { state, info } = run
  if (info === null) return false
  // What an earlier generation has done counts as done.
  const events = run.events.slice(run.base)
  if (state === 'cancelled' && events.every(({ kind }) => kind === null) && endedWithCancel(run)) return true
  return skippedWhy(run) !== undefined
}

/** Why its undos did not run, if they did not. */
function skippedWhy({ info }: RunRecord): string | undefined {
  if (info === null) return undefined
  const { rollback } = decodePayload(info) as { readonly rollback?: { readonly skipped?: string } }
  return rollback?.skipped
}

/** Whether it ended in the unit of its cancel: before its first turn, or since workers had died over it. */
function endedWithCancel(run: RunRecord): boolean {
  const events = standingEvents(run)
  const cancel = events.findIndex(({ type }) => type === 'cancelled')
  const at = events.at(-1)?.at
  return events.slice(cancel).every((event) => event.at === at)
}

/** Whether it was cancelled so long before its end that no worker may have had its code. */
function waitedForCode({ cancelAt, endedAt }: RunRecord): boolean {
  return cancelAt !== null && endedAt !== null && endedAt - cancelAt >= 30_000
}

/** `find` returns how an undo was registered; undefined if the procedure did not see that. */
function findOrderFaults(
  undone: readonly Undone[],
  find: (name: string) => Registered | undefined,
): string[] {
  const faults: string[] = []
  const left = new Set(undone.map(({ name }) => name))
  for (const { name, turn } of undone) {
    left.delete(name)
    const own = find(name)
    if (own === undefined) continue
    for (const other of left) {
      const at = find(other)
      if (at !== undefined && at.nth > own.nth && at.turn < turn)
        faults.push(`${name} was undone before ${other}`)
    }
  }
  return faults
}
