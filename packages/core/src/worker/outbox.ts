import type { Unit } from '../ports/store.ts'
import type { Activity, Draft } from './activities/activity.ts'
import type { WrittenEvent } from './log-end.ts'

/** What a run wants to have written, until it is. */
export class Outbox {
  #drafts: Draft[] = []
  /** Those in the unit under way. */
  #sent: readonly Draft[] = []

  get isEmpty(): boolean {
    return this.#drafts.length === 0
  }
  /** The procedure will move once these are in the log. */
  get settles(): boolean {
    return this.#drafts.some(({ type }) => type === 'settled')
  }

  add(draft: Draft): void {
    this.#drafts.push(draft)
  }

  has(position: number): boolean {
    return this.#drafts.some(({ pending }) => pending.position === position)
  }

  /** What the activity wanted recorded and was not sent yet. */
  retract(activity: Activity): readonly Draft[] {
    const retracted = this.#drafts.filter(({ strict }) => strict === activity)
    this.#drafts = this.#drafts.filter(({ strict }) => strict !== activity)
    return retracted
  }

  /** Into a unit go all of them, or those a run still wants that has ended. */
  send(isWanted: (draft: Draft) => boolean = () => true): readonly Draft[] {
    this.#sent = this.#drafts.filter(isWanted)
    this.#drafts = []
    return this.#sent
  }

  /** The unit was written. */
  confirm(): void {
    this.#sent = []
  }

  /** The unit was not written: all goes into the next one, except what must be decided again, which is returned. */
  takeBack(): readonly Draft[] {
    const sent = this.#sent
    this.#sent = []
    this.#drafts = [...sent.filter(({ strict }) => strict === undefined), ...this.#drafts]
    return sent.filter(({ strict }) => strict !== undefined)
  }
}

/** What drafts add to a unit beside their events. */
export function effectsOf(drafts: readonly Draft[]): Pick<Unit, 'opens' | 'closes' | 'consumes'> {
  return {
    opens: drafts.flatMap(({ opens, pending }) =>
      opens === undefined ? [] : [{ ...opens, position: pending.position }],
    ),
    closes: drafts.flatMap(({ closes, pending }) =>
      closes === undefined ? [] : [{ position: pending.position, status: closes }],
    ),
    consumes: drafts.flatMap(({ consumes }) => consumes ?? []),
  }
}

export function eventsOf(drafts: readonly Draft[]): WrittenEvent[] {
  const events: WrittenEvent[] = []
  for (const { type, pending, failed = false, tookMs = null, payload = null } of drafts) {
    if (type === null) continue
    const { position, turn, nth, operation } = pending
    const { kind, name } = operation
    events.push({
      ...{ type, position, turn, nth, kind, name, failed, tookMs, payload },
      ...{ seq: -1, at: 0, epoch: 0, link: null },
    })
  }
  return events
}
