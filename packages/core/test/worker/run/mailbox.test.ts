import { expect, test } from 'vitest'
import type { Message } from '../../../src/ports/store/mail.ts'
import { Mailbox } from '../../../src/worker/run/mailbox.ts'
import type { WorkerServices } from '../../../src/worker/services.ts'

function signal(n: number): Message {
  return { n, at: 0, kind: 'signal', name: 'go', by: null, payload: null }
}

/** A mailbox, and a store that answers each reading when it is told to. */
function createMailbox(counter = 0) {
  const readings: { readonly after: number; readonly answer: (messages: readonly Message[]) => void }[] = []
  let read = 0
  const store = {
    mail: {
      list: (_run: number, after: number) =>
        new Promise<readonly Message[]>((answer) => readings.push({ after, answer })),
    },
  } as unknown as WorkerServices['store']
  const onUnread = (error: unknown): void => {
    throw error
  }
  const mailbox = new Mailbox(store, 1, counter, { onRead: () => read++, onUnread })
  const takeAll = (): readonly number[] => {
    const taken: number[] = []
    for (;;) {
      const message = mailbox.take(['signal go'])
      if (message === undefined) return taken
      taken.push(message.n)
    }
  }
  return { mailbox, readings, takeAll, countRead: () => read }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('does not read messages twice that are learned of during a read', async () => {
  const { mailbox, readings, takeAll } = createMailbox(1)
  const read = mailbox.read()
  mailbox.learn(2)
  expect(readings.map(({ after }) => after)).toEqual([0])
  readings[0]?.answer([signal(1)])
  await settled()
  expect(readings.map(({ after }) => after)).toEqual([0, 1])
  readings[1]?.answer([signal(2)])
  await read
  expect(takeAll()).toEqual([1, 2])
})

test('reads messages that are learned of at the moment a read ends', async () => {
  const { mailbox, readings, takeAll, countRead } = createMailbox()
  mailbox.learn(1)
  readings[0]?.answer([signal(1)])
  // Just behind the last thing the reading does.
  await Promise.resolve()
  await Promise.resolve()
  mailbox.learn(2)
  await settled()
  readings[1]?.answer([signal(2)])
  await settled()
  expect(mailbox.isBehind).toBe(false)
  expect(takeAll()).toEqual([1, 2])
  expect(countRead()).toBeGreaterThan(0)
})

test('does not read the next message if it was sent in this process', () => {
  const { mailbox, readings, takeAll } = createMailbox()
  mailbox.receive(signal(1))
  mailbox.learn(1)
  expect([mailbox.seen, mailbox.isBehind, mailbox.isReading]).toEqual([1, false, false])
  expect(takeAll()).toEqual([1])
  expect(readings).toEqual([])
})

test('does not read the only message if the run was claimed with it', async () => {
  const { mailbox, readings, takeAll } = createMailbox(1)
  mailbox.begin(signal(1))
  await mailbox.read()
  expect(readings).toEqual([])
  expect(takeAll()).toEqual([1])
})

test.for([
  { counter: 2, n: 2, what: 'an earlier one may be unused' },
  { counter: 2, n: 1, what: 'there is a later one' },
])('reads the message that the run was claimed with if $what', async ({ counter, n }) => {
  const { mailbox, readings, takeAll } = createMailbox(counter)
  mailbox.begin(signal(n))
  const read = mailbox.read()
  readings[0]?.answer([signal(1), signal(2)])
  await read
  expect(takeAll()).toEqual([1, 2])
})

test('reads a message that is not the next one, with the ones before it', async () => {
  const { mailbox, readings, takeAll } = createMailbox()
  mailbox.receive(signal(2))
  expect(mailbox.isBehind).toBe(true)
  readings[0]?.answer([signal(1), signal(2)])
  await settled()
  expect(takeAll()).toEqual([1, 2])
})

test('does not add a message twice that arrives while others are read', async () => {
  const { mailbox, readings, takeAll } = createMailbox(1)
  const read = mailbox.read()
  mailbox.receive(signal(1))
  readings[0]?.answer([signal(1)])
  await read
  expect(takeAll()).toEqual([1])
})

test('ignores a message that was seen already', () => {
  const { mailbox, readings, takeAll } = createMailbox()
  mailbox.receive(signal(1))
  mailbox.receive(signal(1))
  expect(takeAll()).toEqual([1])
  expect(readings).toEqual([])
})
