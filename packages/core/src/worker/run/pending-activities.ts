import type { RunInfo } from '../../events/payloads.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { Activity } from '../activities/activity.ts'
import { maxShown } from './ending.ts'
import { isEarly, type Mailbox, positionAnswered, topicOf } from './mailbox.ts'

interface Entry {
  readonly pending: Pending
  readonly activity: Activity
  /** Its scope was closed: the procedure does not wait for it, and it is still to be withdrawn. */
  readonly isClosed: boolean
}

/** What the operations of a run are at. */
export interface Survey {
  /** Code of the author's is at work, or about to be. */
  readonly isBusy: boolean
  /** It is at work. */
  readonly isWorking: boolean
  /** When somebody next wants to be looked at. */
  readonly dueAt: number | null
}

/** Who is given messages: all that wait for one, open questions, or questions that are not asked yet. */
export type Takers = 'all' | 'asks' | 'unasked'

interface Due {
  readonly at: number
  readonly position: number
  readonly activity: Activity
}

/** What is at work for the pending operations of one run. */
export class PendingActivities {
  readonly #entries = new Map<number, Entry>()
  /** Those that were due when they were last looked for, and are still to be called on: the longest due last. */
  #due: Due[] = []

  /** Code of the author's is at work, or about to be. */
  get isBusy(): boolean {
    for (const { activity } of this.#entries.values()) if (activity.busy) return true
    return false
  }

  /** What all of them are at, in one pass. */
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

  /** Code of the author's is at work. */
  get isWorking(): boolean {
    for (const { activity } of this.#entries.values()) if (activity.busy === 'working') return true
    return false
  }

  /** Open asks, with their operations. */
  get asks(): readonly Entry[] {
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

  /** Stops one whose scope was closed, and forgets it; false: it is still to be withdrawn, and is kept for that long. */
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

  /** Stops and forgets all others. */
  keep(isKept: (entry: Entry) => boolean): void {
    for (const [position, entry] of this.#entries)
      if (!isKept(entry)) {
        this.#entries.delete(position)
        entry.activity.stop()
      }
  }

  /**
   * Calls on whoever is due, the longest due first, unless something of it is still to be written: at most so many; the
   * rest of them goes before all others the next time.
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
   * The oldest message goes first, to the first operation that waits for it: at most so many. Of the operations of a
   * run that has ended only questions still take anything: their answers. Returns whether none is left that somebody
   * would take.
   */
  handOut(mailbox: Mailbox, to: Takers, max: number): boolean {
    const lines = this.#lineUp(mailbox, to)
    // The oldest message of each topic, the oldest of all last.
    const heads: Message[] = []
    for (const topic of lines.keys()) insert(heads, mailbox.oldest([topic]))
    let taken = 0
    for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
      const topic = topicOf(head.kind, head.name)
      const taker = lines.get(topic)?.next()
      if (taker === undefined) continue
      if (taken++ === max) return false
      taker.onMessage(mailbox.take([topic]) as Message)
      insert(heads, mailbox.oldest([topic]))
    }
    return true
  }

  /** Who waits for each topic there is a message about. */
  #lineUp(mailbox: Mailbox, to: Takers): ReadonlyMap<string, Line> {
    const lines = new Map<string, Line>()
    const join = (activity: Activity, topic: string): void => {
      const line = lines.get(topic) ?? new Line(topic)
      lines.set(topic, line)
      line.add(activity)
    }
    const shared = new Set<string>()
    for (const topic of mailbox.topics) {
      const position = positionAnswered(topic)
      if (position === null && (to !== 'unasked' || isEarly(topic))) shared.add(topic)
      // An answer is for one ask, so that no other operation need be looked at.
      const activity = position === null || to === 'unasked' ? undefined : this.find(position)
      if (activity?.topics.includes(topic) === true) join(activity, topic)
    }
    if (shared.size === 0) return lines
    for (const { activity } of this.#entries.values()) {
      if (to !== 'all' && !activity.isOpenAsk) continue
      for (const topic of activity.topics) if (shared.has(topic)) join(activity, topic)
    }
    return lines
  }

  /** For people who look at the run. */
  describe(): RunInfo['waiting'] {
    const shown: NonNullable<RunInfo['waiting']>[number][] = []
    for (const { pending, activity, isClosed } of this.#entries.values()) {
      if (shown.length === maxShown) break
      if (isClosed) continue
      shown.push({
        position: pending.position,
        kind: pending.operation.kind,
        name: pending.operation.name,
        asks: activity.isOpenAsk,
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

/** Those who wait for one topic, in the order of their operations. */
class Line {
  readonly #topic: string
  readonly #activities: Activity[] = []
  #first = 0

  constructor(topic: string) {
    this.#topic = topic
  }

  add(activity: Activity): void {
    this.#activities.push(activity)
  }

  /** The first that still waits; it stays so until it takes something. */
  next(): Activity | undefined {
    while (this.#activities[this.#first]?.topics.includes(this.#topic) === false) this.#first++
    return this.#activities[this.#first]
  }
}

/** Among messages with the newest first. */
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
