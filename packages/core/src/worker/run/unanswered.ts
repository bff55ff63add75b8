import { checkUpdate } from '../../authoring/update/update.ts'
import { recordFailure } from '../../errors/failure.ts'
import { noPosition } from '../../events/event.ts'
import type { Effect } from '../../ports/store/commit.ts'
import type { Draft } from '../activities/activity.ts'
import { replyEffect } from '../activities/update/reply.ts'
import type { Ending } from './ending.ts'
import { topicOf } from './mailbox.ts'
import type { RunState } from './state.ts'

// Answers updates that no handler answers.

/**
 * Answers the updates of a run that ends: with what the handler returned in the last turn, otherwise with the end. A run that
 * continues with an empty log keeps the updates that it has not taken. `sent`: what is written with it.
 */
export function answerAtEnd(state: RunState, ending: Ending, sent: readonly Draft[]): readonly Effect[] {
  const { mailbox, continuation } = state
  const isLast = ending.next === undefined
  const { openUpdates } = continuation.notes
  const updates = isLast ? mailbox.updates : []
  if (openUpdates.length === 0 && updates.length === 0) return none
  const open = new Set([...openUpdates, ...updates])
  for (const { effects = [] } of sent)
    for (const effect of effects) if (effect.do === 'reply') open.delete(effect.n)
  const returned = new Map(
    ending.left.flatMap(({ operation }) =>
      operation.kind === 'reply' ? [[operation.n, operation.outcome] as const] : [],
    ),
  )
  const otherwise = isLast ? { ended: ending.state } : { failure: recordFailure(new Error(continued)) }
  return [...open].map((n) => replyEffect(n, returned.get(n) ?? otherwise))
}

const none: readonly Effect[] = []

const continued = 'the run continued with an empty log before it replied'

/** Refuses the updates that the procedure does not declare. */
export function refuseUndeclared(state: RunState, standIn: (position: number) => Draft['pending']): void {
  const { mailbox, outbox, continuation } = state
  const { definition } = continuation.start
  for (const name of mailbox.updateNames) {
    if (definition.updates?.has(name) === true) continue
    const failure = recordFailure(refusalOf(() => checkUpdate(definition, 'update', name)))
    const topic = topicOf('update', name)
    for (let one = mailbox.take([topic]); one !== undefined; one = mailbox.take([topic]))
      outbox.add({ type: null, pending: standIn(noPosition), effects: [replyEffect(one.n, { failure })] })
  }
}

function refusalOf(check: () => unknown): unknown {
  try {
    return check()
  } catch (error) {
    return error
  }
}
