import { maxPayloadBytes } from '../../events/codec.ts'
import type { LogEvent } from '../../events/event.ts'
import type { StepResult } from '../activities/activity.ts'

/** As many as a question shows by default. */
const keptAtFirst = 5

/** The last results of steps and agents, so that a question that shows them need not read the log. */
export class RecentSteps {
  #kept: StepResult[] = []
  #max = keptAtFirst
  #bytes = 0
  /** Of all there were. */
  #count = 0

  add(event: LogEvent): void {
    const result = stepResultOf(event)
    if (result === null) return
    this.#count++
    this.#keep(result)
  }

  /** Oldest first, as many of them as can be shown at once; null if so many were not kept. */
  last(count: number): readonly StepResult[] | null {
    return Math.min(count, this.#count) <= this.#max ? this.#kept.slice(-count) : null
  }

  /** From here on keeps so many: the run that shows them once will do so again. `read`: all there are in the log so far. */
  keepMore(max: number, read: readonly StepResult[]): void {
    const since = this.#count - read.length
    // Too many came meanwhile, or a replay has begun that will bring them all again.
    if (max <= this.#max || since > this.#kept.length || since < 0) return
    const added = this.#kept.slice(this.#kept.length - since)
    this.#max = max
    this.#kept = []
    this.#bytes = 0
    for (const result of [...read, ...added]) this.#keep(result)
  }

  /** What no question has room for beside what is newer is not kept. */
  #keep(result: StepResult): void {
    this.#kept.push(result)
    this.#bytes += sizeOf(result)
    for (let oldest = sizeOf(this.#kept[0]); this.#isTooMuch(oldest); oldest = sizeOf(this.#kept[0])) {
      this.#kept.shift()
      this.#bytes -= oldest
    }
  }

  #isTooMuch(oldest: number): boolean {
    return this.#kept.length > this.#max || this.#bytes - oldest > maxPayloadBytes
  }
}

function sizeOf(result: StepResult | undefined): number {
  return result?.payload?.length ?? 0
}

/** What an event says of a step that has a result; null for all other events. */
export function stepResultOf({ type, kind, failed, name, payload, tookMs }: LogEvent): StepResult | null {
  if (type !== 'settled' || failed || (kind !== 'step' && kind !== 'llm')) return null
  return { kind, name, payload, tookMs: tookMs ?? 0 }
}
