import type { RunInfo } from '../events/payloads.ts'
import type { Pending } from '../kernel/operation.ts'
import type { Message } from '../ports/store.ts'
import type { Activity } from './activities/activity.ts'
import { mostTold } from './ending.ts'
import type { Mailbox } from './mailbox.ts'

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

  /** Calls on whoever is due, the longest due first, unless something of it is still to be written. */
  callDue(now: number, isDrafted: (position: number) => boolean): void {
    const due: { readonly at: number; readonly position: number; readonly activity: Activity }[] = []
    for (const [position, { activity }] of this.#entries) {
      const at = activity.dueAt
      if (at !== null && at <= now) due.push({ at, position, activity })
    }
    if (due.length > 1) due.sort((a, b) => a.at - b.at)
    for (const { position, activity } of due) if (!isDrafted(position)) activity.onDue()
  }

  /**
   * The oldest message goes first, to the first operation that waits for it. Of the operations of a run that
   * has ended only questions still take anything: their answers.
   */
  handOut(mailbox: Mailbox, hasEnded: boolean): void {
    while (!mailbox.isEmpty) {
      let next: { readonly n: number; readonly activity: Activity } | null = null
      for (const { activity } of this.#entries.values()) {
        if (hasEnded && !activity.isOpenAsk) continue
        const n = mailbox.oldest(activity.topics)?.n
        if (n !== undefined && (next === null || n < next.n)) next = { n, activity }
      }
      if (next === null) return
      const { activity } = next
      activity.onMessage(mailbox.take(activity.topics) as Message)
    }
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
