import type { RunInfo } from '../events/payloads.ts'
import type { Pending } from '../kernel/operation.ts'
import type { Message } from '../ports/store.ts'
import type { Activity } from './activities/activity.ts'
import { mostTold } from './ending.ts'
import { type Mailbox, topicOf } from './mailbox.ts'

interface Entry {
  readonly pending: Pending
  readonly activity: Activity
}

/** What is at work for the pending operations of one run. */
export class Desk {
  readonly #entries = new Map<number, Entry>()

  /** Code of the author's is at work, or about to be. */
  get isBusy(): boolean {
    for (const { activity } of this.#entries.values()) if (activity.busy) return true
    return false
  }

  /** It is at work. */
  get isWorking(): boolean {
    for (const { activity } of this.#entries.values()) if (activity.busy === 'working') return true
    return false
  }

  /** When somebody next wants to be looked at. */
  get dueAt(): number | null {
    let earliest: number | null = null
    for (const { activity } of this.#entries.values()) {
      const { dueAt } = activity
      if (dueAt !== null && (earliest === null || dueAt < earliest)) earliest = dueAt
    }
    return earliest
  }

  /** Open asks, with their operations. */
  get asks(): readonly Entry[] {
    return [...this.#entries.values()].filter(({ activity }) => activity.isOpenAsk)
  }

  has(position: number): boolean {
    return this.#entries.has(position)
  }

  add(pending: Pending, activity: Activity): void {
    this.#entries.set(pending.position, { pending, activity })
  }

  find(position: number): Activity | undefined {
    return this.#entries.get(position)?.activity
  }

  remove(position: number): void {
    this.#entries.delete(position)
  }

  /** Stops and forgets all others. */
  keep(isKept: (entry: Entry) => boolean): void {
    for (const [position, entry] of this.#entries)
      if (!isKept(entry)) {
        this.#entries.delete(position)
        entry.activity.stop()
      }
  }

  /** Calls on whoever is due, the longest due first, unless something of it is still to be written. */
  callDue(now: number, drafted: ReadonlySet<number>): void {
    const due: { readonly at: number; readonly position: number; readonly activity: Activity }[] = []
    for (const [position, { activity }] of this.#entries) {
      const at = activity.dueAt
      if (at !== null && at <= now) due.push({ at, position, activity })
    }
    if (due.length > 1) due.sort((a, b) => a.at - b.at)
    for (const { position, activity } of due) if (!drafted.has(position)) activity.onDue()
  }

  /**
   * The oldest message goes first, to the first operation that waits for it. Of the operations of a run that
   * has ended only questions still take anything: their answers.
   */
  handOut(mailbox: Mailbox, hasEnded: boolean): void {
    if (mailbox.isEmpty) return
    const lines = this.#lineUp(hasEnded)
    // The oldest message of each topic, the oldest of all last.
    const heads: Message[] = []
    for (const topic of lines.keys()) insert(heads, mailbox.oldest([topic]))
    for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
      const topic = topicOf(head.kind, head.name)
      const taker = lines.get(topic)?.next()
      if (taker === undefined) continue
      taker.onMessage(mailbox.take([topic]) as Message)
      insert(heads, mailbox.oldest([topic]))
    }
  }

  /** Who waits for each topic. */
  #lineUp(hasEnded: boolean): ReadonlyMap<string, Line> {
    const lines = new Map<string, Line>()
    for (const { activity } of this.#entries.values()) {
      if (hasEnded && !activity.isOpenAsk) continue
      for (const topic of activity.topics) {
        const line = lines.get(topic) ?? new Line(topic)
        lines.set(topic, line)
        line.add(activity)
      }
    }
    return lines
  }

  /** For people who look at the run. */
  describe(): RunInfo['waiting'] {
    return [...this.#entries.values()].slice(0, mostTold).map(({ pending, activity }) => ({
      position: pending.position,
      kind: pending.operation.kind,
      name: pending.operation.name,
      asks: activity.isOpenAsk,
      since: pending.issuedAt,
      until: activity.dueAt,
    }))
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
