import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '../../../src/ports/store/mail.ts'
import { topicOf } from '../../../src/runs/topics.ts'
import type { Activity } from '../../../src/worker/activities/activity.ts'
import { Mailbox } from '../../../src/worker/run/mailbox.ts'
import { PendingActivities } from '../../../src/worker/run/pending-activities.ts'

/** Waits for any of the topics until it has taken enough messages; discards invalid ones and keeps waiting. */
interface Plan {
  readonly topics: readonly string[]
  readonly wants: number
}
interface SentMessage {
  readonly name: string
  readonly fits: boolean
}
type Taken = readonly [activity: number, n: number]

const names = ['a', 'b', 'c', 'd']
const plans = fc.array(
  fc.record({ topics: fc.subarray(names, { minLength: 1 }), wants: fc.integer({ min: 0, max: 3 }) }),
  { maxLength: 8 },
)
const messages = fc.array(fc.record({ name: fc.constantFrom(...names), fits: fc.boolean() }), {
  maxLength: 20,
})

test('hands the oldest awaited message to the first operation that waits for it', () => {
  fc.assert(
    fc.property(plans, messages, (waiting, sent) => {
      expect(handOut(waiting, sent)).toEqual(handOutOneByOne(waiting, sent))
    }),
    { numRuns: 500 },
  )
})

test('hands out messages in the same order, a few at a time or all at once', () => {
  fc.assert(
    fc.property(plans, messages, fc.integer({ min: 1, max: 4 }), (waiting, sent, maxShown) => {
      expect(handOut(waiting, sent, maxShown)).toEqual(handOutOneByOne(waiting, sent))
    }),
    { numRuns: 500 },
  )
})

test('calls due operations, the longest due first, a few at a time or all at once', () => {
  const dues = fc.array(fc.option(fc.integer({ min: 0, max: 9 })), { maxLength: 20 })
  fc.assert(
    fc.property(dues, fc.integer({ min: 1, max: 5 }), (given, maxShown) => {
      const called: number[] = []
      const left = [...given]
      const activities = new PendingActivities()
      for (const position of given.keys())
        activities.add(
          { position } as never,
          callable(left, position, (at) => void called.push(at)),
        )
      const now = 6
      for (let before = -1; before < called.length; ) {
        before = called.length
        activities.callDue(now, new Set(), maxShown)
        expect(called.length - before).toBeLessThanOrEqual(maxShown)
      }
      const due = [...given.entries()].flatMap(([position, at]) =>
        at !== null && at <= now ? [{ position, at }] : [],
      )
      expect(called).toEqual(due.sort((a, b) => a.at - b.at).map(({ position }) => position))
    }),
    { numRuns: 500 },
  )
})

test('surveys many operations as if one by one', () => {
  const states = fc.array(
    fc.record({
      busy: fc.constantFrom(false as const, 'queued' as const, 'working' as const),
      dueAt: fc.option(fc.nat(9)),
    }),
    { maxLength: 6 },
  )
  fc.assert(
    fc.property(states, (given) => {
      const activities = new PendingActivities()
      for (const [position, state] of given.entries()) activities.add({ position } as never, state as never)
      const dueAts = given.flatMap(({ dueAt }) => dueAt ?? [])
      expect(activities.survey()).toEqual({
        isBusy: given.some(({ busy }) => busy !== false),
        isWorking: given.some(({ busy }) => busy === 'working'),
        dueAt: dueAts.length === 0 ? null : Math.min(...dueAts),
      })
    }),
  )
})

/** Due at one time, and then never again. */
function callable(left: (number | null)[], position: number, onDue: (position: number) => void): Activity {
  const activity = {
    get dueAt() {
      return left[position] ?? null
    },
    onDue() {
      onDue(position)
      left[position] = null
    },
  }
  return activity as unknown as Activity
}

function handOut(
  waiting: readonly Plan[],
  sent: readonly SentMessage[],
  maxShown = Number.POSITIVE_INFINITY,
): readonly Taken[] {
  const taken: Taken[] = []
  const activities = new PendingActivities()
  const mailbox = new Mailbox({} as never, 1, 0, { onRead: () => {}, onUnread: () => {} })
  for (const [i, { name, fits }] of sent.entries())
    mailbox.receive({
      n: i + 1,
      at: 0,
      kind: 'signal',
      name,
      by: null,
      payload: fits ? null : new Uint8Array(1),
    })
  for (const [i, plan] of waiting.entries()) {
    const onTaken = ({ n }: Message): void => void taken.push([i, n])
    activities.add({ position: i } as never, waitFor(plan, onTaken))
  }
  while (!activities.handOut(mailbox, 'all', { max: maxShown }))
    expect(taken.length).toBeLessThanOrEqual(sent.length)
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
function handOutOneByOne(waiting: readonly Plan[], sent: readonly SentMessage[]): readonly Taken[] {
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
