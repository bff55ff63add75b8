import type { LogEvent } from '@pawl/core/storage'
import type { RunRecord } from '../../src/memory/tables.ts'
import type { World } from './world.ts'

/** Whether a run may have ended as it has. */
export function findEndFaults({ acknowledged, programs }: World, run: RunRecord): readonly string[] {
  const cancels = run.events.filter(({ type }) => type === 'cancelled').length
  const mayThrow = programs.some(({ name, throws }) => name === run.procedure && throws)
  return [
    run.state === 'cancelled' && cancels === 0 && 'it is cancelled, and its log says nothing of it',
    run.state === 'failed' && !mayThrow && 'it failed, and its code does not throw',
    acknowledged.cancels.has(run.id) && run.cancelAt === null && run.endedAt === null && 'its cancel is lost',
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
  run: RunRecord,
  undoable: ReadonlySet<string>,
  trace: readonly string[],
): readonly string[] {
  const { events, state } = run
  const undone = events.filter(isUndo).map(({ name, turn }) => ({ name, turn }))
  const names = new Set(undone.map(({ name }) => name))
  if (names.size < undone.length) return [`undone twice: ${undone.map(({ name }) => name).join(', ')}`]
  const faults = findOrderFaults(events, undone)
  if (state === 'completed' || endedWithoutCode(run)) return faults
  for (const name of turnsOf(events).keys())
    if (undoable.has(`${run.id} ${name}`) && !names.has(name)) faults.push(`${name} is not undone`)
  for (const line of trace) {
    const [path = '', what] = line.split(': ')
    if (what === 'registered' && !names.has(path)) faults.push(`${path} was registered and is not undone`)
  }
  return faults
}

function isUndo({ type, kind }: LogEvent): boolean {
  return type === 'settled' && kind === 'undo'
}

/** It ended in the unit of its cancel, and nothing was undone: no code was there that could undo. */
export function endedWithoutCode({ events, state }: RunRecord): boolean {
  const cancel = events.findIndex(({ type }) => type === 'cancelled')
  const rest = events.slice(cancel)
  const at = rest.at(-1)?.at
  return state === 'cancelled' && cancel >= 0 && rest.every((event) => event.at === at && !isUndo(event))
}

function findOrderFaults(events: readonly LogEvent[], undone: readonly Undone[]): string[] {
  const turns = turnsOf(events)
  const faults: string[] = []
  const left = new Set(undone.map(({ name }) => name))
  for (const { name, turn } of undone) {
    left.delete(name)
    const own = turns.get(name)
    if (own === undefined) continue
    for (const other of left) {
      const at = turns.get(other)
      if (at !== undefined && at > own && at <= turn) faults.push(`${name} was undone before ${other}`)
    }
  }
  return faults
}

/** The turn that the result of a step began, by name. */
function turnsOf(events: readonly LogEvent[]): ReadonlyMap<string, number> {
  const turns = new Map<string, number>()
  let turn = 0
  for (const { type, kind, name, failed } of events) {
    if (type !== 'settled' && type !== 'cancelled') continue
    turn++
    if (type === 'settled' && kind === 'step' && !failed) turns.set(name, turn)
  }
  return turns
}
