import type { WrittenEvent } from '../../events/event.ts'
import type { Scope } from '../../kernel/scope.ts'
import type { Effect } from '../../ports/store/commit.ts'
import type { Activity, Draft } from '../activities/activity.ts'
import { RaceArms } from './race-arms.ts'

/** What a run wants to have written, until it is. */
export class Outbox {
  readonly #maxDrafts: number
  readonly #arms: RaceArms
  #drafts: Draft[] = []
  /** Those in the unit under way. */
  #sent: readonly Draft[] = []

  /** `maxDrafts`: of a unit. `scopeOf`: of the pending operation at a position. */
  constructor(maxDrafts: number, scopeOf: (position: number) => Scope | undefined) {
    this.#maxDrafts = maxDrafts
    this.#arms = new RaceArms(scopeOf)
  }

  get isEmpty(): boolean {
    return this.#drafts.length === 0
  }
  /** The procedure will move once these are in the log. */
  get settles(): boolean {
    return this.#drafts.some(({ type }) => type === 'settled')
  }

  /** How many more drafts the next unit would hold. */
  get room(): number {
    const left = this.#maxDrafts - this.#drafts.length
    return left <= 0 || this.#drafts.reduce((sum, draft) => sum + sizeOf(draft), 0) > maxBytes ? 0 : left
  }

  add(draft: Draft): void {
    this.#drafts.push(draft)
  }

  /** Of the operations it has something of. */
  get positions(): ReadonlySet<number> {
    return new Set(this.#drafts.map(({ pending }) => pending.position))
  }

  /** What the activity wanted recorded and was not sent yet. */
  retract(activity: Activity): readonly Draft[] {
    const retracted = this.#drafts.filter(({ strict }) => strict === activity)
    this.#drafts = this.#drafts.filter(({ strict }) => strict !== activity)
    return retracted
  }

  /** Drops what was wanted of an operation. */
  drop(position: number): readonly Draft[] {
    const dropped = this.#drafts.filter(({ pending }) => pending.position === position)
    if (dropped.length > 0) this.#drafts = this.#drafts.filter(({ pending }) => pending.position !== position)
    return dropped
  }

  /** Drops all others; what was sent is under way. */
  keep(isKept: (draft: Draft) => boolean): void {
    this.#drafts = this.#drafts.filter(isKept)
  }

  /**
   * What goes into a unit: as much as a unit may hold of all of them, or of those a run still wants that has ended,
   * which wants no others. The rest stays for the next one.
   */
  send(isWanted?: (draft: Draft) => boolean): readonly Draft[] {
    const wanted = isWanted === undefined ? this.#drafts : this.#drafts.filter(isWanted)
    // Of a run that has ended no race is of interest any more.
    const admitted = isWanted === undefined ? this.#arms.select(wanted) : wanted
    const count = admitted.length === 1 ? 1 : countFitting(admitted, this.#maxDrafts)
    this.#sent = count === admitted.length ? admitted : admitted.slice(0, count)
    if (this.#sent.length === wanted.length) this.#drafts = []
    else this.#drafts = admitted === wanted ? wanted.slice(count) : without(wanted, this.#sent)
    return this.#sent
  }

  /** Of what stays behind: what must be decided again, since the run may see more before it is written. */
  dropStrict(): readonly Draft[] {
    const dropped = this.#drafts.filter(isStrict)
    if (dropped.length > 0) this.#drafts = this.#drafts.filter((draft) => !isStrict(draft))
    return dropped
  }

  /** The unit was written. */
  confirm(): void {
    this.#arms.onWritten(this.#sent)
    this.#sent = []
  }

  /** What is in the log is on its way to the procedure. */
  onDelivered(): void {
    this.#arms.onDelivered()
  }

  /** The unit was not written: all goes into the next one, except what must be decided again, which is returned. */
  takeBack(): readonly Draft[] {
    const sent = this.#sent
    this.#sent = []
    this.#drafts = [...sent.filter((draft) => !isStrict(draft)), ...this.#drafts]
    return sent.filter(isStrict)
  }
}

function without(drafts: readonly Draft[], sent: readonly Draft[]): Draft[] {
  const gone = new Set(sent)
  return drafts.filter((draft) => !gone.has(draft))
}

function isStrict({ strict }: Draft): boolean {
  return strict !== undefined
}

/** Bytes of payload. What a run has ready at once is without bound, and what a store can carry at once is not. */
const maxBytes = 8 * 2 ** 20

/** At least one, and with it what belongs to the same operation: a question and its early answer are one. */
function countFitting(drafts: readonly Draft[], maxDrafts: number): number {
  let bytes = 0
  for (const [index, draft] of drafts.entries()) {
    bytes += sizeOf(draft)
    const isFull = bytes > maxBytes || index >= maxDrafts
    if (isFull && index > 0 && drafts[index - 1]?.pending !== draft.pending) return index
  }
  return drafts.length
}

function sizeOf({ payload = null, effects = none }: Draft): number {
  let bytes = payload?.length ?? 0
  for (const effect of effects) if (effect.do === 'open-ask') bytes += effect.ask.payload.length
  return bytes
}

const none: readonly Effect[] = []

/** Returns what drafts change beside their events; for most units nothing. */
export function effectsOf(drafts: readonly Draft[]): readonly Effect[] {
  const [draft] = drafts
  if (drafts.length === 1) return draft?.effects ?? none
  return drafts.some(({ effects }) => effects !== undefined)
    ? drafts.flatMap(({ effects }) => effects ?? none)
    : none
}

/** Returns the numbers of the messages that these effects use up. */
export function consumedBy(effects: readonly Effect[] = none): readonly number[] {
  return effects.flatMap((effect) => (effect.do === 'consume' ? effect.n : []))
}

export function eventsOf(drafts: readonly Draft[]): WrittenEvent[] {
  const events: WrittenEvent[] = []
  for (const draft of drafts) if (draft.type !== null) events.push(eventOf(draft, draft.type))
  return events
}

// One literal, not spread parts: there is one for every step.
function eventOf({ pending, failed, tookMs, payload }: Draft, type: WrittenEvent['type']): WrittenEvent {
  return {
    type,
    position: pending.position,
    turn: pending.turn,
    kind: pending.operation.kind,
    name: pending.operation.name,
    nth: pending.nth,
    failed: failed ?? false,
    tookMs: tookMs ?? null,
    payload: payload ?? null,
    seq: -1,
    at: 0,
    epoch: 0,
    link: null,
  }
}
