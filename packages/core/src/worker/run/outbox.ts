import type { WrittenEvent } from '../../events/event.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Effect } from '../../ports/store/log.ts'
import { payloadBytesOf } from '../../ports/store/payload-bytes.ts'
import { runEvent } from '../../runs/run-event.ts'
import type { Activity, Draft, RunDraft } from '../activities/activity.ts'
import { isScoped, RaceArms, type ScopeOf } from './race-arms.ts'

/** The drafts of a run, until they are written. */
export class Outbox {
  readonly #maxDrafts: number
  readonly #scopeOf: ScopeOf
  /** Null until an operation of a nested scope has a draft. */
  #arms: RaceArms | null = null
  #drafts: Draft[] = []
  /** The drafts of the unit in flight. */
  #sent: readonly Draft[] = []
  /** A cancel is recorded behind all other drafts. */
  #cancel: RunDraft | null = null
  #sentCancel: RunDraft | null = null

  /** `maxDrafts`: the limit of a unit. `scopeOf` returns the scope of a pending operation. */
  constructor(maxDrafts: number, scopeOf: ScopeOf) {
    this.#maxDrafts = maxDrafts
    this.#scopeOf = scopeOf
  }

  get isEmpty(): boolean {
    return this.#drafts.length === 0 && this.#cancel === null
  }
  /** Whether the drafts will make the procedure move. */
  get settles(): boolean {
    return this.#cancel !== null || this.#drafts.some(({ type }) => type === 'settled')
  }

  /** How many more drafts the next unit can hold. Results that a race holds back are in none of the next units. */
  get room(): number {
    const admitted = this.#selectArms(this.#drafts)
    const left = this.#maxDrafts - admitted.length
    return left <= 0 || admitted.reduce((sum, draft) => sum + sizeOf(draft), 0) > maxBytes ? 0 : left
  }

  /** Whether all drafts are results that a race holds back until the result of another branch is delivered. */
  get isHeldBack(): boolean {
    return this.#drafts.length > 0 && this.#selectArms(this.#drafts).length === 0
  }

  add(draft: Draft): void {
    this.#drafts.push(draft)
  }

  /** Whether a cancel is to be recorded. */
  get cancels(): boolean {
    return this.#cancel !== null
  }

  /** The number of the message that requested the cancel to be recorded; undefined if there is none. */
  get cancelRequest(): number | undefined {
    return this.#cancel === null ? undefined : consumedBy(this.#cancel.effects)[0]
  }

  /** Wants a cancel to be recorded. */
  addCancel(draft: RunDraft): void {
    this.#cancel = draft
  }

  /** Sends the cancel with what `send` has sent, if nothing else is left that would have to be recorded before it. */
  sendCancel(): RunDraft | null {
    if (this.#cancel === null || this.#drafts.length > 0) return null
    this.#sentCancel = this.#cancel
    this.#cancel = null
    return this.#sentCancel
  }

  /** Drops a cancel that was not sent. */
  dropCancel(): void {
    this.#cancel = null
  }

  /** The messages that would be used up by what is to be written. */
  get consumes(): ReadonlySet<number> {
    return new Set(this.#drafts.flatMap(({ effects }) => consumedBy(effects)))
  }

  /** The positions of operations with drafts. */
  get positions(): ReadonlySet<number> {
    return new Set(this.#drafts.map(({ pending }) => pending.position))
  }

  /** Removes and returns the drafts of an activity that were not sent yet. */
  retract(activity: Activity): readonly Draft[] {
    const retracted = this.#drafts.filter(({ strict }) => strict === activity)
    this.#drafts = this.#drafts.filter(({ strict }) => strict !== activity)
    return retracted
  }

  /** Removes and returns the drafts of an operation. */
  drop(position: number): readonly Draft[] {
    const dropped = this.#drafts.filter(({ pending }) => pending.position === position)
    if (dropped.length > 0) this.#drafts = this.#drafts.filter(({ pending }) => pending.position !== position)
    return dropped
  }

  /** Drops all drafts that do not match and were not sent. */
  keep(isKept: (draft: Draft) => boolean): void {
    this.#drafts = this.#drafts.filter(isKept)
  }

  /**
   * Returns the drafts for a unit, as many as it can hold; the rest stays for the next one. A run that has ended passes
   * `isWanted` to select the drafts that it still writes.
   */
  send(isWanted?: (draft: Draft) => boolean): readonly Draft[] {
    const wanted = isWanted === undefined ? this.#drafts : this.#drafts.filter(isWanted)
    // After the end of a run, races no longer matter.
    const admitted = isWanted === undefined ? this.#selectArms(wanted) : wanted
    const count = admitted.length === 1 ? 1 : countFitting(untilCancel(admitted), this.#maxDrafts)
    this.#sent = count === admitted.length ? admitted : admitted.slice(0, count)
    if (this.#sent.length === wanted.length) this.#drafts = []
    else this.#drafts = admitted === wanted ? wanted.slice(count) : without(wanted, this.#sent)
    return this.#sent
  }

  /** Whether a result of the operation could be in the next unit: a race holds it back if another branch has one. */
  admits(pending: Pending): boolean {
    if (!isScoped({ pending }) || this.#drafts.length === 0) return true
    return this.#armsOf().admits(pending.position, this.#drafts)
  }

  #selectArms(drafts: readonly Draft[]): readonly Draft[] {
    return drafts.some(isScoped) ? this.#armsOf().select(drafts) : drafts
  }

  #armsOf(): RaceArms {
    this.#arms ??= new RaceArms(this.#scopeOf)
    return this.#arms
  }

  /** Removes and returns the remaining strict drafts: they must be decided again, since the run may see more messages first. */
  dropStrict(): readonly Draft[] {
    const dropped = this.#drafts.filter(isStrict)
    if (dropped.length > 0) this.#drafts = this.#drafts.filter((draft) => !isStrict(draft))
    return dropped
  }

  /** The draft of the unit in flight that has its effect at this index. */
  draftOf(item: number): Draft | undefined {
    let first = 0
    for (const draft of this.#sent) {
      first += draft.effects?.length ?? 0
      if (item < first) return draft
    }
    return undefined
  }

  /** Whether a draft that was not sent creates a run with this id. */
  creates(id: string): boolean {
    return this.#drafts.some(({ effects = none }) =>
      effects.some((effect) => effect.do === 'create-run' && effect.run.id === id),
    )
  }

  /** Removes a draft that was not sent. */
  remove(draft: Draft): void {
    this.#drafts = this.#drafts.filter((one) => one !== draft)
  }

  /** Confirms that the unit was written. */
  confirm(): void {
    this.#arms?.onWritten(this.#sent)
    this.#sent = []
    this.#sentCancel = null
  }

  /** Called when the written events are being delivered to the procedure. */
  onDelivered(): void {
    this.#arms?.onDelivered()
  }

  /** Returns the drafts of an unwritten unit to the next one, except the strict ones, which it returns. */
  takeBack(): readonly Draft[] {
    const sent = this.#sent
    this.#sent = []
    this.#cancel ??= this.#sentCancel
    this.#sentCancel = null
    this.#drafts = [...sent.filter((draft) => !isStrict(draft)), ...this.#drafts]
    return sent.filter(isStrict)
  }
}

function without(drafts: readonly Draft[], sent: readonly Draft[]): Draft[] {
  const gone = new Set(sent)
  return drafts.filter((draft) => !gone.has(draft))
}

/** A result that cancels the run is the last of its unit: the cancel closes what the next drafts belong to. */
function untilCancel(drafts: readonly Draft[]): readonly Draft[] {
  const index = drafts.findIndex(({ cancels }) => cancels !== undefined)
  return index === -1 ? drafts : drafts.slice(0, index + 1)
}

function isStrict({ strict }: Draft): boolean {
  return strict !== undefined
}

/** Bytes of payload. A run may have any amount ready, but a store has a limit. */
const maxBytes = 8 * 2 ** 20

/** Counts the drafts of a unit: at least one, with the other drafts of its operation, such as an ask and its early answer. */
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
  for (const effect of effects) bytes += payloadBytesOf(effect)
  return bytes
}

const none: readonly Effect[] = []

/** Returns the effects of drafts; empty for most units. */
export function effectsOf(drafts: readonly Draft[]): readonly Effect[] {
  const [draft] = drafts
  if (drafts.length === 1) return draft?.effects ?? none
  return drafts.some(({ effects }) => effects !== undefined)
    ? drafts.flatMap(({ effects }) => effects ?? none)
    : none
}

/** Returns the numbers of the messages that effects mark as used. */
export function consumedBy(effects: readonly Effect[] = none): readonly number[] {
  if (effects.length === 0) return noNumbers
  return effects.flatMap((effect) => (effect.do === 'consume' || effect.do === 'reply' ? effect.n : []))
}

const noNumbers: readonly number[] = []

export function eventsOf(drafts: readonly Draft[]): WrittenEvent[] {
  const events: WrittenEvent[] = []
  for (const draft of drafts) {
    if (draft.cancels !== undefined) events.push(runEvent('cancelled', draft.cancels))
    if (draft.type !== null) events.push(eventOf(draft, draft.type))
  }
  return events
}

// One literal, not spread parts: this runs for every step.
function eventOf({ pending, failed, tookMs, payload }: Draft, type: WrittenEvent['type']): WrittenEvent {
  return {
    type,
    position: pending.position,
    turn: pending.turn,
    kind: pending.operation.kind,
    name: pending.operation.name,
    nth: pending.nth,
    failed: failed ?? false,
    // The clock of a store may step back.
    tookMs: tookMs === undefined || tookMs === null ? null : Math.max(0, tookMs),
    payload: payload ?? null,
    seq: -1,
    at: 0,
    epoch: 0,
    link: null,
  }
}
