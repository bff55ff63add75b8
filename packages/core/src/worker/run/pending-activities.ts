import type { RunInfo } from '../../events/payloads.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Message } from '../../ports/store/mail.ts'
import { isEarly, positionOf, topicOf } from '../../runs/topics.ts'
import type { Activity } from '../activities/activity.ts'
import { maxShown } from './ending.ts'
import type { LogIndex } from './log-index.ts'
import type { Mailbox } from './mailbox.ts'
import { isInRace } from './race-arms.ts'

const none: readonly never[] = []

interface Entry {
  readonly pending: Pending
  readonly activity: Activity
  /** Set if its scope was closed: the procedure no longer waits for it, and it is still to be withdrawn. */
  readonly isClosed: boolean
}

type Taker = Pick<Entry, 'pending' | 'activity'>

/** How far messages are handed out. */
interface Bounds {
  /** Maximum number of messages. */
  readonly max: number
  /** Only messages with lower numbers. Default: all. */
  readonly before?: number | undefined
  /** Whether a result of the operation could be written now. Default: always. */
  readonly admits?: (pending: Pending) => boolean
}

/** The state of a run's operations. */
export interface Survey {
  /** Whether the author's code is running or queued. */
  readonly isBusy: boolean
  /** Whether the author's code is running. */
  readonly isWorking: boolean
  /** When the next activity wants to be called. */
  readonly dueAt: number | null
}

/** The activities that receive messages: all, open asks, or asks that are not opened yet. */
export type Takers = 'all' | 'asks' | 'unasked'

interface Due {
  readonly at: number
  readonly position: number
  readonly activity: Activity
}

/** The activities of a run's pending operations. */
export class PendingActivities {
  readonly #entries = new Map<number, Entry>()
  /** Due activities that are still to be called: the longest due last. */
  #due: Due[] = []

  /** Whether the author's code is running or queued. */
  get isBusy(): boolean {
    for (const { activity } of this.#entries.values()) if (activity.busy) return true
    return false
  }

  /** Returns the state of all activities, in one pass. */
  survey(): Survey {
    let isBusy = false
    let isWorking = false
    let dueAt: number | null = null
    for (const { activity } of this.#entries.values()) {
      const { busy, dueAt: at } = activity
      if (busy !== false) isBusy = true
      if (busy === 'working') isWorking = true
      if (at !== null && (dueAt === null || at < dueAt)) dueAt = at
    }
    return { isBusy, isWorking, dueAt }
  }

  /** Whether the author's code is running. */
  get isWorking(): boolean {
    for (const { activity } of this.#entries.values()) if (activity.busy === 'working') return true
    return false
  }

  /** Whether any of them calls code of the author. In a parked run, it is between two attempts. */
  get hasBodies(): boolean {
    for (const { pending } of this.#entries.values()) if ('body' in pending.operation) return true
    return false
  }

  /** The open asks, with their operations. */
  get asks(): readonly Entry[] {
    if (this.#entries.size === 0) return none
    return [...this.#entries.values()].filter(({ activity }) => activity.isOpenAsk)
  }

  has(position: number): boolean {
    return this.#entries.has(position)
  }

  add(pending: Pending, activity: Activity): void {
    this.#entries.set(pending.position, { pending, activity, isClosed: false })
  }

  find(position: number): Activity | undefined {
    return this.#entries.get(position)?.activity
  }

  remove(position: number): void {
    this.#entries.delete(position)
  }

  /** Stops and forgets an activity whose scope was closed. False: it is kept until it has been withdrawn. */
  close(position: number): boolean {
    const entry = this.#entries.get(position)
    if (entry === undefined) return true
    const { activity } = entry
    if (activity.close?.() === true) {
      this.#entries.set(position, { ...entry, isClosed: true })
      return false
    }
    activity.stop()
    this.#entries.delete(position)
    return true
  }

  /** Stops and forgets all activities that do not match. */
  keep(isKept: (entry: Entry) => boolean): void {
    for (const [position, entry] of this.#entries)
      if (!isKept(entry)) {
        this.#entries.delete(position)
        entry.activity.stop()
      }
  }

  /**
   * Calls due activities without pending drafts, the longest due first. Calls at most `max`; the remaining ones go first the
   * next time.
   */
  callDue(now: number, drafted: ReadonlySet<number>, max: number): void {
    if (this.#due.length === 0) this.#due = this.#findDue(now)
    for (let called = 0; called < max; ) {
      const due = this.#due.pop()
      if (due === undefined) return
      const { at, position, activity } = due
      if (this.find(position) !== activity || activity.dueAt !== at || drafted.has(position)) continue
      called++
      activity.onDue()
    }
  }

  #findDue(now: number): Due[] {
    const due: Due[] = []
    for (const [position, { activity }] of this.#entries) {
      const at = activity.dueAt
      if (at !== null && at <= now) due.push({ at, position, activity })
    }
    return due.length > 1 ? due.reverse().sort((a, b) => b.at - a.at) : due
  }

  /**
   * Hands out messages, the oldest first, each to the first operation that waits for it. In a run that has ended only asks
   * still receive messages: their answers. Returns whether no such message is left that an operation would take.
   */
  handOut(mailbox: Mailbox, to: Takers, { max, before = Number.POSITIVE_INFINITY, admits }: Bounds): boolean {
    const lines = this.#lineUp(mailbox, to)
    // The oldest message of each topic; the oldest of all is last.
    const heads: Message[] = []
    for (const topic of lines.keys()) insert(heads, mailbox.oldest([topic]))
    let taken = 0
    for (let head = heads.pop(); head !== undefined && head.n < before; head = heads.pop()) {
      const topic = topicOf(head.kind, head.name)
      const taker = lines.get(topic)?.next()
      if (taker === undefined) continue
      // If its branch loses, the message goes to the next receive, before all later messages.
      if (head.kind === 'signal' && admits?.(taker.pending) === false) return false
      if (taken++ === max) return false
      taker.activity.onMessage(mailbox.take([topic]) as Message)
      insert(heads, mailbox.oldest([topic]))
    }
    return true
  }

  /** Returns the waiting activities of each topic that has a message. */
  #lineUp(mailbox: Mailbox, to: Takers): ReadonlyMap<string, Line> {
    const lines = new Map<string, Line>()
    const join = (taker: Taker, topic: string): void => {
      const line = lines.get(topic) ?? new Line(topic)
      lines.set(topic, line)
      line.add(taker)
    }
    const shared = new Set<string>()
    for (const topic of mailbox.topics) {
      const position = positionOf(topic)
      if (position === null && (to !== 'unasked' || isEarly(topic))) shared.add(topic)
      // Such a message belongs to one operation, so no other one needs to be checked.
      const taker = position === null || to === 'unasked' ? undefined : this.#entries.get(position)
      if (taker === undefined || (to !== 'all' && !taker.activity.isOpenAsk)) continue
      if (taker.activity.topics.includes(topic)) join(taker, topic)
    }
    if (shared.size === 0) return lines
    for (const taker of this.#entries.values()) {
      const { activity } = taker
      if (to !== 'all' && !activity.isOpenAsk) continue
      for (const topic of activity.topics) if (shared.has(topic)) join(taker, topic)
      const held = heldTopic(taker)
      if (held !== null) shared.delete(held)
    }
    return lines
  }

  /** Describes the pending operations for people. */
  describe(notes: Pick<LogIndex, 'askSlotAt'>): RunInfo['waiting'] {
    const shown: NonNullable<RunInfo['waiting']>[number][] = []
    for (const { pending, activity, isClosed } of this.#entries.values()) {
      if (shown.length === maxShown) break
      if (isClosed || pending.operation.isPassive === true) continue
      const { position, operation } = pending
      const asks = activity.isOpenAsk
      const slot = asks ? notes.askSlotAt(position) : position
      shown.push({
        ...{ position, kind: operation.kind, name: operation.name, asks },
        ...(slot === position ? {} : { slot }),
        since: pending.issuedAt,
        until: activity.dueAt,
      })
    }
    return shown
  }

  stop(): void {
    for (const { activity } of this.#entries.values()) activity.stop()
  }
}

/** The topic of a message that one in a race is checking: if its branch loses, the message goes to the next in line. */
function heldTopic({ activity, pending }: Taker): string | null {
  const { checkedTopic = null } = activity
  return checkedTopic !== null && isInRace(pending) ? checkedTopic : null
}

/** The activities that wait for one topic, in the order of their operations. */
class Line {
  readonly #topic: string
  readonly #takers: Taker[] = []
  #first = 0

  constructor(topic: string) {
    this.#topic = topic
  }

  add(taker: Taker): void {
    this.#takers.push(taker)
  }

  /** Returns the first one that still waits; it stays first until it takes a message. Behind one that holds the topic all wait. */
  next(): Taker | undefined {
    for (;;) {
      const taker = this.#takers[this.#first]
      if (taker === undefined || taker.activity.topics.includes(this.#topic)) return taker
      if (heldTopic(taker) === this.#topic) return undefined
      this.#first++
    }
  }
}

/** Inserts a message into a list with the newest first. */
function insert(messages: Message[], message: Message | undefined): void {
  if (message === undefined) return
  let low = 0
  let high = messages.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((messages[middle] as Message).n > message.n) low = middle + 1
    else high = middle
  }
  messages.splice(low, 0, message)
}
