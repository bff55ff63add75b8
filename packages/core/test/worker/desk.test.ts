import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '../../src/ports/store.ts'
import type { Activity } from '../../src/worker/activities/activity.ts'
import { Desk } from '../../src/worker/desk.ts'
import { Mailbox, topicOf } from '../../src/worker/mailbox.ts'

/** Waits for any of the topics until it has taken enough; what does not fit it drops, and waits on. */
interface Plan {
  readonly topics: readonly string[]
  readonly wants: number
}
interface Letter {
  readonly name: string
  readonly fits: boolean
}
type Taken = readonly [activity: number, n: number]

const names = ['a', 'b', 'c', 'd']
const plans = fc.array(
  fc.record({ topics: fc.subarray(names, { minLength: 1 }), wants: fc.integer({ min: 0, max: 3 }) }),
  { maxLength: 8 },
)
const letters = fc.array(fc.record({ name: fc.constantFrom(...names), fits: fc.boolean() }), {
  maxLength: 20,
})

test('the oldest message that anybody waits for goes first, to the first that waits for it', () => {
  fc.assert(
    fc.property(plans, letters, (waiting, sent) => {
      expect(handOut(waiting, sent)).toEqual(handOutOneByOne(waiting, sent))
    }),
    { numRuns: 500 },
  )
})

function handOut(waiting: readonly Plan[], sent: readonly Letter[]): readonly Taken[] {
  const taken: Taken[] = []
  const desk = new Desk()
  const mailbox = new Mailbox({} as never, 1, 0, { onRead: () => {}, onUnread: () => {} })
  for (const [i, { name, fits }] of sent.entries())
    mailbox.receive({ n: i + 1, at: 0, kind: 'signal', name, payload: fits ? null : new Uint8Array(1) })
  for (const [i, plan] of waiting.entries()) {
    const onTaken = ({ n }: Message): void => void taken.push([i, n])
    desk.add({ position: i } as never, waitFor(plan, onTaken))
  }
  desk.handOut(mailbox, false)
  return taken
}

function waitFor({ topics, wants }: Plan, onTaken: (message: Message) => void): Activity {
  let left = wants
  const activity = {
    get topics() {
      return left === 0 ? [] : topics.map((name) => topicOf('signal', name))
    },
    onMessage(message: Message) {
      onTaken(message)
      if (message.payload === null) left--
    },
  }
  return activity as unknown as Activity
}

/** The same said plainly: after each message everybody is asked anew. */
function handOutOneByOne(waiting: readonly Plan[], sent: readonly Letter[]): readonly Taken[] {
  const left = waiting.map(({ wants }) => wants)
  const taken: Taken[] = []
  for (const [i, { name, fits }] of sent.entries()) {
    const taker = waiting.findIndex(({ topics }, at) => (left[at] as number) > 0 && topics.includes(name))
    if (taker === -1) continue
    taken.push([taker, i + 1])
    if (fits) left[taker] = (left[taker] as number) - 1
  }
  return taken
}
