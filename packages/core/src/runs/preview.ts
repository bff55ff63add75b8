import { type LogEvent, noPosition, type OperationKind } from '../events/event.ts'

// Says what a fork or a retry would do again. Pure: it compares a log with what is kept of it.

/** What a fork or a retry keeps of the log of a run, and what it does again. */
export interface RepeatPreview {
  /** Position of the first operation that is not kept; undefined if all results are. */
  readonly position: number | undefined
  /** Number of results that are kept, edited ones included. */
  readonly kept: number
  /** The edited and the repeated operations, by position. At most 1,000. */
  readonly operations: readonly RepeatedOperation[]
  /** Number of further operations. */
  readonly more: number
  /** Names of the undos that ran behind the cut: the steps that they undid are kept as if they were done. */
  readonly undone: readonly string[]
  /** Ids of the children that continue with a retry, or in whose place a fork creates children of its own. */
  readonly children: readonly string[]
}

/** What becomes of an operation of the log. */
export interface RepeatedOperation {
  readonly position: number
  /** Kind of the operation, as in the log. */
  readonly type: string
  readonly name: string
  /** 'effect': something is done, such as a step. 'ask': people are asked. 'wait': for a signal, a timer or another run. */
  readonly does: 'effect' | 'ask' | 'wait'
  /**
   * 'edited': its result is replaced. 'repeated': it was issued by then, and is done again. 'depends': it was issued later, so that the
   * code decides whether it is done again.
   */
  readonly becomes: 'edited' | 'repeated' | 'depends'
}

const maxOperations = 1_000

const does: { readonly [K in OperationKind]: RepeatedOperation['does'] } = {
  step: 'effect',
  llm: 'effect',
  timer: 'wait',
  signal: 'wait',
  hitl_approval: 'ask',
  hitl_input: 'ask',
  hitl_select: 'ask',
  hitl_review: 'ask',
  hitl_escalation: 'ask',
  hitl_notification: 'effect',
  ail_decision: 'effect',
  undo: 'effect',
  child: 'effect',
  spawn: 'effect',
  result: 'wait',
  send: 'effect',
  update: 'wait',
  reply: 'effect',
  checkpoint: 'effect',
}

/** Compares a log with what is kept of it. `edited`: the positions whose results are replaced. */
export function previewRepeat(
  events: readonly LogEvent[],
  kept: readonly LogEvent[],
  edited: ReadonlySet<number> = new Set(),
): Omit<RepeatPreview, 'children'> {
  const keptSeqs = new Set(kept.map(({ seq }) => seq))
  const isKept = ({ seq, position }: LogEvent): boolean => keptSeqs.has(seq) && !edited.has(position)
  const results = new Set(kept.flatMap(({ type, position }) => (type === 'settled' ? [position] : [])))
  const firstOther = events.findIndex(
    (event) => (event.type === 'settled' || event.type === 'cancelled') && !isKept(event),
  )
  const before = firstOther === -1 ? events : events.slice(0, firstOther + 1)
  const latest = before.reduce(
    (turn, event) => Math.max(turn, event.position === noPosition ? 0 : event.turn),
    0,
  )
  const operations = new Map<number, RepeatedOperation>()
  for (const { position, kind, name, turn } of events) {
    if (kind === null || position === noPosition) continue
    if (results.has(position) && !edited.has(position)) continue
    const becomes = edited.has(position) ? 'edited' : turn <= latest ? 'repeated' : 'depends'
    operations.set(position, { position, type: kind, name, does: does[kind], becomes })
  }
  const sorted = [...operations.values()].sort((a, b) => a.position - b.position)
  const undone = events.filter((event) => event.kind === 'undo' && event.type === 'settled' && !isKept(event))
  return {
    position: sorted.find(({ becomes }) => becomes !== 'edited')?.position,
    kept: results.size,
    operations: sorted.slice(0, maxOperations),
    more: Math.max(0, sorted.length - maxOperations),
    undone: undone.map(({ name }) => name),
  }
}
