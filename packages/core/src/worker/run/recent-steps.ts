import { maxPayloadBytes } from '../../events/codec.ts'
import type { LogEvent } from '../../events/event.ts'
import type { StepResult } from '../activities/activity.ts'

/** The number of results that an ask shows by default. */
const keptAtFirst = 5

/** The last results of steps and agents, so that an ask need not read the log to show them. */
export class RecentSteps {
  #kept: StepResult[] = []
  #max = keptAtFirst
  #bytes = 0
  /** The number of results in the log so far. */
  #count = 0

  add(event: LogEvent): void {
    const result = stepResultOf(event)
    if (result === null) return
    this.#count++
    this.#keep(result)
  }

  /** Returns the last results, oldest first; null if not enough of them were kept. */
  last(count: number): readonly StepResult[] | null {
    return Math.min(count, this.#count) <= this.#max ? this.#kept.slice(-count) : null
  }

  /** Keeps more results from now on, since the run will probably show them again. `read`: all results in the log so far. */
  keepMore(max: number, read: readonly StepResult[]): void {
    const since = this.#count - read.length
    // Too many arrived meanwhile, or a replay has started that will deliver them all again.
    if (max <= this.#max || since > this.#kept.length || since < 0) return
    const added = this.#kept.slice(this.#kept.length - since)
    this.#max = max
    this.#kept = []
    this.#bytes = 0
    for (const result of [...read, ...added]) this.#keep(result)
  }

  /** Adds a result, and drops old ones that no ask has room for beside the newer ones. */
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

/** Returns the result of a step, an agent or a decision; null for other events. */
export function stepResultOf({ type, kind, failed, name, payload, tookMs }: LogEvent): StepResult | null {
  if (type !== 'settled' || failed || (kind !== 'step' && kind !== 'llm' && kind !== 'ail_decision'))
    return null
  return { kind, name, payload, tookMs: tookMs ?? 0 }
}
