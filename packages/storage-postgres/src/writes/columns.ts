import {
  askStatusCode,
  eventTypeCode,
  type NewAsk,
  type NewEvent,
  operationKindCode,
} from '@pawl/core/storage'
import {
  listBigints,
  listBooleans,
  listBytes,
  listIntegers,
  listSmallints,
  listTexts,
  writeLiteral,
} from '../connection/lists.ts'

// Rows on their way into a statement: one list per column, which `unnest` makes rows again.

/** The columns `EventColumns` fills, as `unnest` gives them back. */
export const eventTypes =
  'int[], int[], int2[], int[], int[], int2[], text[], int[], bool[], bigint[], bytea[], bytea[]'
export const eventNames = 'i, seq, type, position, turn, kind, name, nth, failed, took_ms, payload, link'

/** Events of several runs; `i` is the place of the unit or run they belong to, from 1. */
export class EventColumns {
  readonly #i: number[] = []
  readonly #seq: number[] = []
  readonly #type: number[] = []
  readonly #position: number[] = []
  readonly #turn: number[] = []
  readonly #kind: (number | null)[] = []
  readonly #name: string[] = []
  readonly #nth: number[] = []
  readonly #failed: boolean[] = []
  readonly #tookMs: (number | null)[] = []
  readonly #payload: (Uint8Array | null)[] = []
  readonly #link: (Uint8Array | null)[] = []

  add(i: number, seq: number, event: NewEvent, link: Uint8Array | null): void {
    const { type, position, turn, kind, name, nth, failed, tookMs, payload } = event
    this.#i.push(i)
    this.#seq.push(seq)
    this.#type.push(eventTypeCode.numberOf[type])
    this.#position.push(position)
    this.#turn.push(turn)
    this.#kind.push(kind === null ? null : operationKindCode.numberOf[kind])
    this.#name.push(name)
    this.#nth.push(nth)
    this.#failed.push(failed)
    this.#tookMs.push(tookMs)
    this.#payload.push(payload)
    this.#link.push(link)
  }

  values(): readonly Buffer[] {
    return [
      listIntegers(this.#i),
      listIntegers(this.#seq),
      listSmallints(this.#type),
      listIntegers(this.#position),
      listIntegers(this.#turn),
      listSmallints(this.#kind),
      listTexts(this.#name),
      listIntegers(this.#nth),
      listBooleans(this.#failed),
      listBigints(this.#tookMs),
      listBytes(this.#payload),
      listBytes(this.#link),
    ]
  }
}

export const askTypes =
  'int[], int[], int2[], int2[], bigint[], bigint[], bigint[], text[], text[], text[], text[], text[], bytea[], bytea[]'
export const askNames =
  'i, position, status, urgency, due_at, closes_at, answered_at, kind, key, audience, escalate_to, answered_by, payload, answer'

/** Asks that several units open. */
export class AskColumns {
  readonly #i: number[] = []
  readonly #asks: NewAsk[] = []
  readonly #status: number[] = []

  /** `closed`: the same unit closes it again. */
  add(i: number, ask: NewAsk, closed: 'timed-out' | 'withdrawn' | undefined): void {
    this.#i.push(i)
    this.#asks.push(ask)
    this.#status.push(askStatusCode.numberOf[ask.answered ? 'answered' : (closed ?? 'open')])
  }

  get count(): number {
    return this.#i.length
  }

  values(): readonly Buffer[] {
    const asks = this.#asks
    return [
      listIntegers(this.#i),
      listIntegers(asks.map(({ position }) => position)),
      listSmallints(this.#status),
      listSmallints(asks.map(({ urgency }) => urgency)),
      listBigints(asks.map(({ dueAt }) => dueAt)),
      listBigints(asks.map(({ closesAt }) => closesAt)),
      listBigints(asks.map(({ answered }) => answered?.at ?? null)),
      listTexts(asks.map(({ kind }) => kind)),
      listTexts(asks.map(({ key }) => key)),
      // Lists in a list: `unnest` would flatten them, so each travels as a text.
      listTexts(asks.map(({ to }) => writeLiteral(to))),
      listTexts(asks.map(({ escalateTo }) => writeLiteral(escalateTo))),
      listTexts(asks.map(({ answered }) => answered?.by ?? null)),
      listBytes(asks.map(({ payload }) => payload)),
      listBytes(asks.map(({ answered }) => answered?.payload ?? null)),
    ]
  }
}

/** `$n, $n+1, …` with their types, as `unnest` takes them. */
export function numberParameters(first: number, types: string): string {
  return types
    .split(', ')
    .map((type, index) => `$${first + index}::${type}`)
    .join(', ')
}
