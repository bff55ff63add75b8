import { checkUpdate } from '../../authoring/update/update.ts'
import { recordFailure } from '../../errors/failure.ts'
import { type LogEvent, noPosition } from '../../events/event.ts'
import { decode, encode } from '../../events/payload.ts'
import { noMessage, type ReplyPayload, type UpdatePayload } from '../../events/payloads.ts'
import type { Effect, Unit } from '../../ports/store/log.ts'
import type { Message } from '../../ports/store/mail.ts'
import { topicOf } from '../../runs/topics.ts'
import type { Draft } from '../activities/activity.ts'
import { replyEffect } from '../activities/update/reply.ts'
import type { Ending } from './ending.ts'
import type { RunState } from './state.ts'

// Answers updates that no handler answers.

/**
 * Answers the updates of a run that ends, or that continues with an empty log: with what the handler returned in the last turn,
 * otherwise with the end. A run that continues gives those to its next generation that no handler has begun. `sent`: what is
 * written with it.
 */
export function answerAtEnd(state: RunState, ending: Ending, sent: readonly Draft[]): readonly Effect[] {
  const { mailbox, continuation } = state
  const isLast = ending.next === undefined
  const unread = isLast ? mailbox.updates : []
  const taken = new Map(continuation.notes.openUpdates)
  if (taken.size === 0 && unread.length === 0) return none
  for (const { effects = [] } of sent)
    for (const effect of effects) if (effect.do === 'reply') taken.delete(effect.n)
  const returned = new Map(
    ending.left.flatMap(({ operation }) =>
      operation.kind === 'reply' ? [[operation.n, operation.outcome] as const] : [],
    ),
  )
  const unfinished: string[] = []
  const answers = [...taken].map(([n, event]): Effect => {
    const outcome = returned.get(n)
    if (outcome !== undefined) return replyEffect(n, outcome)
    if (hasBegun(state, n)) {
      unfinished.push(event.name)
      return replyEffect(n, unfinishedReply(ending))
    }
    if (isLast) return replyEffect(n, { ended: ending.state })
    return { do: 'give-back', n, payload: encode(inputOf(event), 'update') }
  })
  state.unfinishedUpdates = unfinished
  const unseen = unread.filter((n) => !taken.has(n))
  return [...answers, ...unseen.map((n) => replyEffect(n, { ended: ending.state }))]
}

const none: readonly Effect[] = []

/** Returns the updates that a unit gives to the next generation of the run. */
export function givenBackBy(state: RunState, { effects }: Pick<Unit, 'effects'>): readonly Message[] {
  return effects.flatMap((effect) => {
    const taken = effect.do === 'give-back' ? state.continuation.notes.openUpdates.get(effect.n) : undefined
    if (effect.do !== 'give-back' || taken === undefined || effect.n === noMessage) return []
    const { by = null } = decode(taken.payload) as UpdatePayload
    return { n: effect.n, at: taken.at, kind: 'update', name: taken.name, by, payload: effect.payload }
  })
}

/** Whether a handler may have acted. Without its code, the run does not know. */
function hasBegun({ continuation, composeLast }: RunState, n: number): boolean {
  return composeLast !== null || continuation.begunUpdates.has(n)
}

function unfinishedReply({ next, state: ended }: Ending): ReplyPayload {
  if (next === undefined) return { ended, unfinished: true }
  return { failure: recordFailure(new Error(continued)), unfinished: true }
}

function inputOf({ payload }: LogEvent): unknown {
  return (decode(payload) as UpdatePayload).input
}

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
