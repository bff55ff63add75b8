import type { ProgressRecord, RunInfo } from '../../events/payloads.ts'
import type { Effect } from '../../ports/store/log.ts'

/** How long what a run shows of itself may wait for a commit. */
const publishAfterMs = 500

/**
 * What a run shows of itself: exposed values and its progress. Exposed values are written with its next unit; the progress when
 * it is due, and when the run is parked or ends. No event records it: it follows from the log and the code.
 */
export class Published {
  /** Values to be written. */
  #states = new Map<string, Uint8Array | null>()
  #progress: ProgressRecord | undefined
  #isProgressNew = false
  #dueAt: number | null = null
  #sent: { readonly states: ReadonlyMap<string, Uint8Array | null>; readonly hasProgress: boolean } | null =
    null

  /** When it is to be written, by the store's clock, if no unit is written before. Null: there is nothing to write. */
  get dueAt(): number | null {
    return this.#dueAt
  }

  expose(name: string, payload: Uint8Array | null, now: number): void {
    this.#states.set(name, payload)
    this.#dueAt ??= now + publishAfterMs
  }

  report(progress: ProgressRecord, now: number): void {
    this.#progress = progress
    this.#isProgressNew = true
    this.#dueAt ??= now + publishAfterMs
  }

  /** Returns what a unit writes of it. `info`: what lists show of the run after the unit; null leaves that unchanged. */
  take(
    info: RunInfo | null,
    current: () => RunInfo,
    now: number,
  ): { readonly effects: readonly Effect[]; readonly info: RunInfo | null } {
    const states = this.#states
    const isDue = this.#dueAt !== null && this.#dueAt <= now
    const shows = info !== null || (this.#isProgressNew && isDue)
    this.#sent = { states, hasProgress: shows && this.#isProgressNew }
    this.#states = new Map()
    if (shows) this.#isProgressNew = false
    if (!this.#isProgressNew) this.#dueAt = null
    const effects = [...states].map(([name, payload]): Effect => ({ do: 'expose', name, payload }))
    if (!shows || this.#progress === undefined) return { effects, info }
    return { effects, info: { ...(info ?? current()), progress: this.#progress } }
  }

  /** Confirms that the unit was written. */
  confirm(): void {
    this.#sent = null
  }

  /** Makes what was not written pending again, unless there is something newer. */
  takeBack(now: number): void {
    if (this.#sent === null) return
    const { states, hasProgress } = this.#sent
    this.#sent = null
    this.#states = new Map([...states, ...this.#states])
    this.#isProgressNew ||= hasProgress
    if (this.#states.size > 0 || this.#isProgressNew) this.#dueAt ??= now
  }
}
