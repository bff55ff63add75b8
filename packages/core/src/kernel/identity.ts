import type { LogEvent } from '../events/event.ts'
import type { Operation, Pending } from './operation.ts'

/** Returns whether an event belongs to an operation. Ignores the position: an edit may have moved the operation. */
export function isAbout(event: LogEvent, { turn, nth, operation }: Pending): boolean {
  return (
    operation.name === event.name && turn === event.turn && nth === event.nth && operation.kind === event.kind
  )
}

/**
 * Orders operations by turn, and within a turn by kind, name and number. An edit that swaps operations of a turn does
 * not change this order.
 */
export function inOrderOfIdentity(a: Pending, b: Pending): number {
  if (a.turn !== b.turn) return a.turn - b.turn
  const [keyA, keyB] = [a, b].map(({ operation }) => keyOf(operation.kind, operation.name)) as [
    string,
    string,
  ]
  if (keyA !== keyB) return keyA < keyB ? -1 : 1
  return a.nth - b.nth
}

/** Describes an event for a person: `step "charge" in turn 3`. */
export function describeEvent(event: LogEvent): string {
  if (event.kind === null) return event.failed ? 'its failure' : 'its completion'
  return describe(event.kind, event.name, event.turn, event.nth)
}

/** Describes an operation of the code in the same way. */
export function describePending({ turn, nth, operation }: Pending): string {
  return describe(operation.kind, operation.name, turn, nth)
}

function describe(kind: string, name: string, turn: number, nth: number): string {
  return `${kind} "${name}"${nth === 0 ? '' : ` (no. ${nth + 1} of that name)`} in turn ${turn}`
}

/** Numbers the operations of equal kind and name within each turn, from 0. */
export class Ordinals {
  #turn = -1
  /** The kind and name of the turn's first operation, which is usually its only one. */
  #kind = ''
  #name = ''
  #last: Map<string, number> | null = null

  next(turn: number, { kind, name }: Operation): number {
    if (turn !== this.#turn) {
      this.#turn = turn
      this.#kind = kind
      this.#name = name
      this.#last = null
      return 0
    }
    this.#last ??= new Map([[keyOf(this.#kind, this.#name), 0]])
    const key = keyOf(kind, name)
    const nth = (this.#last.get(key) ?? -1) + 1
    this.#last.set(key, nth)
    return nth
  }
}

/** No kind contains a space. */
function keyOf(kind: string, name: string): string {
  return `${kind} ${name}`
}
