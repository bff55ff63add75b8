import type { LogEvent } from '../events/event.ts'
import type { Operation, Pending } from './operation.ts'

/** Whether the event is about that operation. The position is not compared: an edit may have moved it. */
export function isAbout(event: LogEvent, { turn, nth, operation }: Pending): boolean {
  return (
    operation.name === event.name && turn === event.turn && nth === event.nth && operation.kind === event.kind
  )
}

/**
 * The order of the turns, and within a turn one by kind, name and number: an edit that makes operations of a
 * turn change places leaves it as it was.
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

/** What the log has, for a person: `step "charge" in turn 3`. */
export function describeEvent(event: LogEvent): string {
  if (event.kind === null) return event.failed ? 'its failure' : 'its completion'
  return describe(event.kind, event.name, event.turn, event.nth)
}

/** The same of what the code asks for. */
export function describePending({ turn, nth, operation }: Pending): string {
  return describe(operation.kind, operation.name, turn, nth)
}

function describe(kind: string, name: string, turn: number, nth: number): string {
  return `${kind} "${name}"${nth === 0 ? '' : ` (no. ${nth + 1} of that name)`} in turn ${turn}`
}

/** Numbers the operations of equal kind and name within each turn, from 0. */
export class Ordinals {
  #turn = -1
  /** Of the turn's first operation, which most often is its only one. */
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

/** No kind has a space in it. */
function keyOf(kind: string, name: string): string {
  return `${kind} ${name}`
}
