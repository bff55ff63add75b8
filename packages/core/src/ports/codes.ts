import { type AskStatus, askStatuses, type Severity, severities } from '../base/words.ts'
import { WrittenLater } from '../events/codec.ts'
import { type EventType, eventTypes, type OperationKind, operationKinds } from '../events/event.ts'
import { type FeedKind, feedKinds } from './store/feed.ts'
import type { Damaged, Message } from './store/mail.ts'
import { type NoticeKind, noticeKinds } from './store/notices.ts'
import type { EndState, Mark, RunState } from './store/runs.ts'

// Stores keep words as numbers: the index in these lists. Append only, never reorder.
const runStates = ['live', 'completed', 'failed', 'cancelled'] as const satisfies readonly RunState[]
/**
 * The state of a row that is no run: its log is being copied, or being cleared. It has a hidden id and no `run_info`. A further
 * state of a run gets a higher number.
 */
export const hiddenState = 4

/** The longest id of a run, in characters. */
const maxIdLength = 200

/** Returns the id of a row in {@link hiddenState}. No run can have it, because it is too long. */
export function hideId(name: string): string {
  return `hidden ${'.'.repeat(maxIdLength)} ${name}`
}

/** How long a copy may take before it counts as abandoned, in ms. */
export const copyKeptMs: number = 60 * 60 * 1_000

const marks = ['none', 'stuck', 'quarantined'] as const satisfies readonly Mark[]
const messageKinds = [
  'signal',
  'early',
  'answer',
  'cancel',
  'ended',
  'watch',
  'update',
] as const satisfies readonly Message['kind'][]

/** The kinds of messages that a generation that keeps a past does not inherit. */
export const staleKinds: readonly Message['kind'][] = ['answer', 'cancel', 'ended', 'watch']

/**
 * The kinds of messages that a hold keeps from a run. Answers, cancels and the ends of other runs are never held back. A
 * message of a unit is only held back if it must arrive.
 */
export const heldKinds: readonly Message['kind'][] = ['signal', 'update', 'watch']

/** The key of the message that requests a cancel: a run has at most one. Signals and early answers have keys with other prefixes. */
export const cancelKey = 'cancel'

/** Converts between words and the numbers that stores keep. */
export interface Code<Word extends string> {
  readonly numberOf: { readonly [word in Word]: number }
  /** @throws WrittenLater for a number that this version does not know */
  wordOf(stored: number): Word
  /** Returns the word, or the number if this version does not know it. */
  wordIfKnown(stored: number): Word | number
}

/** The codes of run states. */
export const stateCode: Code<RunState> = makeCode(runStates)

/** The codes of marks. */
export const markCode: Code<Mark> = makeCode(marks)

/** The codes of ask statuses. */
export const askStatusCode: Code<AskStatus> = makeCode(askStatuses)

/** The codes of message kinds. */
export const messageKindCode: Code<Message['kind']> = makeCode(messageKinds)

/** The codes of event types. */
export const eventTypeCode: Code<EventType> = makeCode(eventTypes)

/** The codes of operation kinds. */
export const operationKindCode: Code<OperationKind> = makeCode(operationKinds)

/** The codes of the kinds of feed entries. */
export const feedCode: Code<FeedKind> = makeCode(feedKinds)

/** The codes of the kinds of notices. */
export const noticeKindCode: Code<NoticeKind> = makeCode(noticeKinds)

/** The codes of severities. */
export const severityCode: Code<Severity> = makeCode(severities)

/** Returns why a message for a run that is not live is rejected. `stored` is the number of its state. */
export function refuseMessage(
  stored: number,
): { readonly outcome: 'ended'; readonly state: EndState } | Damaged {
  const state = runStates[stored]
  if (state === undefined || state === 'live')
    return { outcome: 'damaged', why: `its state is stored as ${stored}, which this version does not know` }
  return { outcome: 'ended', state }
}

function makeCode<Word extends string>(words: readonly Word[]): Code<Word> {
  const numberOf = Object.fromEntries(words.map((word, index) => [word, index])) as { [word in Word]: number }
  const wordOf = (stored: number): Word => {
    const word = words[stored]
    if (word === undefined)
      throw new WrittenLater(`a value stored as ${stored}, which is not one of ${words.join(', ')},`)
    return word
  }
  return { numberOf, wordOf, wordIfKnown: (stored) => words[stored] ?? stored }
}
