import { decodePayload } from '@pawl/core/internal'
import type { LogEvent } from '@pawl/core/storage'
import type { RunRecord } from '../../src/memory/tables.ts'
import { type Generation, generationsOf, takesPlace } from './lives.ts'

/** Whether each retry took the place of a generation that had failed, and kept of it what did not depend on the failure. */
export function findRetryFaults(run: RunRecord): readonly string[] {
  const generations = generationsOf(run)
  return generations.flatMap((generation, i) => {
    const before = generations[i - 1]
    if (before === undefined || !takesPlace(generation)) return []
    return findRepeatFaults(before, generation).map((fault) => `generation ${i + 1}: ${fault}`)
  })
}

function findRepeatFaults(before: Generation, generation: Generation): readonly string[] {
  const end = before.events.at(-1) as LogEvent
  if (end.type !== 'ended') return ['it was retried, and had not ended']
  const wasCancelled = before.events.some(isCancel)
  if (!end.failed && !wasCancelled) return ['it was retried, and had completed']
  if (before.events.some(({ kind }) => kind === 'undo')) return ['it was retried, and had undone its steps']
  const copies = copiesIn(generation)
  const faults = copies.flatMap((copy) =>
    before.events.some((event) => isSame(event, copy)) ? [] : [`it has made up ${describe(copy)}`],
  )
  const kept = before.events.filter(
    (event) => event.type === 'started' || copies.some((copy) => isSame(event, copy)),
  )
  const results = wasCancelled ? cutsOfCancelled(before, end) : cutsOfFailed(before, end)
  const cuts = results.map((cut) => withQuestions(before.events, cut))
  const differences = cuts.map((cut) => compare(kept, cut))
  return differences.some((difference) => difference.length === 0)
    ? faults
    : [...faults, ...(differences[0] as readonly string[])]
}

/** The events that were copied: a worker writes its own with another epoch. */
function copiesIn({ events }: Generation): readonly LogEvent[] {
  const [started, ...others] = events as readonly [LogEvent, ...LogEvent[]]
  return others.filter(({ epoch }) => epoch === started.epoch)
}

/** An answer is kept with its question. */
function withQuestions(events: readonly LogEvent[], cut: readonly LogEvent[]): readonly LogEvent[] {
  const answered = new Set(cut.flatMap(({ type, position }) => (type === 'settled' ? position : [])))
  return [...cut, ...events.filter(({ type, position }) => type === 'asked' && answered.has(position))]
}

/** A cancelled child continues as if it had not been cancelled; it may have failed before that was seen. */
function cutsOfCancelled(before: Generation, end: LogEvent): readonly (readonly LogEvent[])[] {
  const first = before.events.find(isCancel) as LogEvent
  const own = keptBefore(before.events, first.seq, turnAt(before.events, first.seq - 1)).filter(
    (event) => !isCancel(event),
  )
  return end.failed ? [own, ...cutsOfFailed(before, end)] : [own]
}

/** One for each result that may have been the cause; all results are kept if the code threw. */
function cutsOfFailed({ events }: Generation, end: LogEvent): readonly (readonly LogEvent[])[] {
  const failures = failuresIn(decodePayload(end.payload as Uint8Array) as Failure)
  const causes = events.filter((event) => {
    if (event.type !== 'settled' || !event.failed) return false
    const { code, message } = decodePayload(event.payload as Uint8Array) as Failure
    return failures.some((failure) => failure.code === code && failure.message === message)
  })
  if (causes.length === 0) return [events.filter(isKept)]
  return causes
    .toReversed()
    .map((cause) =>
      keptBefore(events, cause.seq, turnAt(events, cause.seq)).filter(
        ({ position }) => position !== cause.position,
      ),
    )
}

/** What comes before an event, and the results behind it of operations that were issued by a turn. */
function keptBefore(events: readonly LogEvent[], seq: number, turn: number): readonly LogEvent[] {
  return events.filter(
    (event) =>
      isKept(event) &&
      (event.seq < seq || event.type === 'marked' || (event.type === 'settled' && event.turn <= turn)),
  )
}

/** The latest turn in which an operation was issued of which the log has anything up to an event. */
function turnAt(events: readonly LogEvent[], seq: number): number {
  return Math.max(
    0,
    ...events.filter((event) => event.seq <= seq && event.position >= 0).map(({ turn }) => turn),
  )
}

function compare(kept: readonly LogEvent[], expected: readonly LogEvent[]): readonly string[] {
  return [
    ...expected
      .filter((event) => !kept.includes(event))
      .map((event) => `it does ${describe(event)} again, which did not depend on the failure`),
    ...kept
      .filter((event) => !expected.includes(event))
      .map((event) => `it keeps ${describe(event)}, which depends on the failure`),
  ]
}

interface Failure {
  readonly code?: string
  readonly message: string
  readonly cause?: Failure
  readonly errors?: readonly Failure[]
}

function failuresIn(failure: Failure): readonly Failure[] {
  const { cause, errors = [] } = failure
  return [failure, ...(cause === undefined ? [] : failuresIn(cause)), ...errors.flatMap(failuresIn)]
}

function isSame(a: LogEvent, b: LogEvent): boolean {
  return (
    a.type === b.type &&
    a.position === b.position &&
    a.turn === b.turn &&
    a.kind === b.kind &&
    a.name === b.name &&
    a.failed === b.failed &&
    String(a.payload) === String(b.payload)
  )
}

function isKept({ type }: LogEvent): boolean {
  return ['started', 'accepted', 'marked', 'cancelled', 'settled'].includes(type)
}

function isCancel({ type }: LogEvent): boolean {
  return type === 'cancelled'
}

function describe({ type, position, kind, name }: LogEvent): string {
  return `${type} ${kind ?? ''} ${name} at ${position}`
}
