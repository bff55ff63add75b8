import type { FailureRecord } from '../errors/failure.ts'
import { endBeforeUnusedYes, findUnusedVerdict } from '../events/consent.ts'
import { type LogEvent, noPosition, type OperationKind } from '../events/event.ts'
import { decode } from '../events/payload.ts'
import type { RollbackRecord } from '../events/payloads.ts'

// Decides what a fork keeps of the log of its original, and a retry of the log of its run. Pure: the log alone says it.

/** Types of events that a copy keeps, besides the questions of the answers. All others are about operations that the copy begins anew. */
const copied: readonly LogEvent['type'][] = ['started', 'accepted', 'marked', 'cancelled', 'settled']

/**
 * Returns the events to keep so that the run continues just before the result at `position`: all before that result, and
 * behind it the results of operations that were issued by then, so that no effect is repeated that did not depend on it.
 */
export function cutBefore(events: readonly LogEvent[], position: number): readonly LogEvent[] {
  const others = events.filter((event) => event.position === noPosition || event.position !== position)
  const index = findResult(events, position)
  if (index === -1) return copy(others)
  const before = events.slice(0, index + 1)
  return select(others, events[index]?.seq ?? 0, latestTurn(before))
}

/**
 * As {@link cutBefore}, for a fork: no cancel of the original is one of the fork, and what the cancel has closed is open again. Only a
 * fork that begins in what the cancel led to keeps it.
 */
export function cutForFork(events: readonly LogEvent[], position: number): readonly LogEvent[] {
  const before = cutBeforeCancel(events)
  const isBehind = findResult(events, position) !== -1 && findResult(before, position) === -1
  return cutBefore(isBehind ? events : before, position)
}

/** As {@link cutBefore}, to continue just behind the result of a position. */
export function cutBehind(events: readonly LogEvent[], position: number): readonly LogEvent[] {
  const index = findResult(events, position)
  if (index === -1) return copy(events)
  const before = events.slice(0, index + 1)
  return select(events, (events[index]?.seq ?? 0) + 1, latestTurn(before))
}

/**
 * Returns the events to keep so that the run continues where its original was when its log had `seq` events: all of them, and
 * the effects that had begun by then and were recorded later. It waits again for pending answers, signals and times.
 */
export function cutAt(events: readonly LogEvent[], seq: number): readonly LogEvent[] {
  const before = events.filter((event) => event.seq < seq)
  const turn = before.filter(({ type }) => type === 'settled' || type === 'cancelled').length
  const asked = new Set(events.flatMap(({ type, position }) => (type === 'asked' ? position : [])))
  const isEffect = ({ kind, position }: LogEvent): boolean =>
    kind !== null && hasEffect[kind] && !asked.has(position)
  return copy(
    events,
    (event) =>
      event.seq < seq ||
      event.type === 'marked' ||
      (event.type === 'settled' && event.turn <= turn && isEffect(event)),
  )
}

/** Whether the result of a kind of operation is the record of something done, rather than of something that has arrived. */
const hasEffect: { readonly [K in OperationKind]: boolean } = {
  step: true,
  llm: true,
  timer: false,
  signal: false,
  hitl_approval: false,
  hitl_input: false,
  hitl_select: false,
  hitl_review: false,
  hitl_escalation: false,
  hitl_notification: true,
  ail_decision: true,
  undo: true,
  child: true,
  spawn: true,
  result: false,
  send: true,
  update: false,
  reply: false,
  checkpoint: false,
}

/**
 * Returns what a failed run keeps that is retried: the events before the failed result that ended it, as {@link cutBefore}, or all
 * results if its own code threw. `position`: that of the result.
 */
export function cutBeforeFailure(events: readonly LogEvent[]): {
  readonly kept: readonly LogEvent[]
  readonly position: number | null
} {
  const end = events.at(-1)
  const failure = end?.type === 'ended' && end.failed ? (decode(end.payload) as FailureRecord) : null
  const failures = failure === null ? [] : failuresIn(failure)
  const cause = events.findLast(
    ({ type, failed, payload }) =>
      type === 'settled' && failed && failures.some((one) => isSame(one, decode(payload) as FailureRecord)),
  )
  if (cause === undefined) return { kept: copy(events), position: null }
  return { kept: cutBefore(events, cause.position), position: cause.position }
}

/** Returns what a cancelled run keeps that is to continue as if no cancel had come: as {@link cutBefore}, before its first cancel. */
export function cutBeforeCancel(events: readonly LogEvent[]): readonly LogEvent[] {
  const first = events.find(({ type }) => type === 'cancelled')
  if (first === undefined) return copy(events)
  const before = events.filter(({ seq }) => seq < first.seq)
  return select(events, first.seq, latestTurn(before)).filter(({ type }) => type !== 'cancelled')
}

/** Whether the log has undone anything, or has tried to: what it keeps of the results may not be so any more. */
export function hasUndone(events: readonly LogEvent[]): boolean {
  return events.some(({ kind }) => kind === 'undo')
}

/** Whether undos of a run have run, which refuses its retry. */
export function hasRunUndos(rollback: Pick<RollbackRecord, 'undone' | 'failed'> | undefined): boolean {
  return rollback !== undefined && rollback.undone.length + rollback.failed.length > 0
}

/**
 * Moves the cut back until no yes is kept whose action is not, and no verdict and no facts before such an action: a consent is for one
 * run only. `original`: the events of which these are kept.
 */
export function withoutUnusedConsent(
  events: readonly LogEvent[],
  original: readonly LogEvent[],
): readonly LogEvent[] {
  let kept = events
  for (;;) {
    const end = endBeforeUnusedYes(kept, kept.length)
    const position = end < kept.length ? kept[end]?.position : findUnusedVerdict(kept, original)
    if (position === undefined) return kept
    kept = cutBefore(kept, position)
  }
}

export function findResult(events: readonly LogEvent[], position: number): number {
  return events.findIndex((event) => event.type === 'settled' && event.position === position)
}

function select(events: readonly LogEvent[], cutAt: number, turn: number): readonly LogEvent[] {
  return copy(
    events,
    (event) =>
      event.seq < cutAt || event.type === 'marked' || (event.type === 'settled' && event.turn <= turn),
  )
}

/** Copies the events that are kept, and the question of each answer among them: it says who may edit the answer, and how. */
function copy(
  events: readonly LogEvent[],
  isKept: (event: LogEvent) => boolean = () => true,
): readonly LogEvent[] {
  const isCopied = (event: LogEvent): boolean => copied.includes(event.type) && isKept(event)
  const settled = new Set(
    events.flatMap((event) => (event.type === 'settled' && isCopied(event) ? event.position : [])),
  )
  return events.filter((event) => (event.type === 'asked' ? settled.has(event.position) : isCopied(event)))
}

function latestTurn(events: readonly LogEvent[]): number {
  return events.reduce(
    (latest, { position, turn }) => (position === noPosition ? latest : Math.max(latest, turn)),
    0,
  )
}

/** A failure, and all that caused it. */
function failuresIn(failure: FailureRecord): readonly FailureRecord[] {
  const { cause, errors = [] } = failure
  return [failure, ...(cause === undefined ? [] : failuresIn(cause)), ...errors.flatMap(failuresIn)]
}

/** Whether both records are of one error: its stack says where it was thrown. A long text may be clipped in one of them. */
function isSame(a: FailureRecord, b: FailureRecord): boolean {
  const isClipped = (text: string): boolean => text.includes('… (') && text.endsWith(' characters in all)')
  const agree = (x = '', y = ''): boolean => x === y || isClipped(x) || isClipped(y)
  return a.name === b.name && a.code === b.code && agree(a.message, b.message) && agree(a.stack, b.stack)
}
