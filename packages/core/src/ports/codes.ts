import { type AskStatus, askStatuses } from '../base/words.ts'
import { WrittenLater } from '../events/codec.ts'
import { type EventType, eventTypes, type OperationKind, operationKinds } from '../events/event.ts'
import type { Damaged, Message } from './store/mail.ts'
import type { EndState, Mark, RunState } from './store/runs.ts'

// Stores keep small numbers for words: the place in these lists. Append to a list, never change its order.
const runStates = ['live', 'completed', 'failed', 'cancelled'] as const satisfies readonly RunState[]
const marks = ['none', 'stuck', 'quarantined'] as const satisfies readonly Mark[]
const messageKinds = ['signal', 'early', 'answer'] as const satisfies readonly Message['kind'][]

/** A list of words that are stored as numbers. */
export interface Code<Word extends string> {
  readonly numberOf: { readonly [word in Word]: number }
  /** @throws WrittenLater for a number that this version does not know */
  wordOf(stored: number): Word
  /** The word, or the number itself if this version does not know it. */
  wordIfKnown(stored: number): Word | number
}

export const stateCode: Code<RunState> = makeCode(runStates)
export const markCode: Code<Mark> = makeCode(marks)
export const askStatusCode: Code<AskStatus> = makeCode(askStatuses)
export const messageKindCode: Code<Message['kind']> = makeCode(messageKinds)
export const eventTypeCode: Code<EventType> = makeCode(eventTypes)
export const operationKindCode: Code<OperationKind> = makeCode(operationKinds)

/** What becomes of a message for a run that is not live. `stored` is the number of its state. */
export function refuseMessage(
  stored: number,
): { readonly outcome: 'ended'; readonly state: EndState } | Damaged {
  const state = runStates[stored]
  if (state === undefined || state === 'live')
    return { outcome: 'damaged', why: `its state stands as ${stored}, which this version does not know` }
  return { outcome: 'ended', state }
}

function makeCode<Word extends string>(words: readonly Word[]): Code<Word> {
  const numberOf = Object.fromEntries(words.map((word, index) => [word, index])) as { [word in Word]: number }
  const wordOf = (stored: number): Word => {
    const word = words[stored]
    if (word === undefined)
      throw new WrittenLater(`what stands as ${stored}, and is none of ${words.join(', ')},`)
    return word
  }
  return { numberOf, wordOf, wordIfKnown: (stored) => words[stored] ?? stored }
}
