import type { LogEvent } from '../events/event.ts'
import type { StepResult } from './activities/activity.ts'

/** As many step results as an ask shows by default are kept in memory, so that asking reads nothing. */
export const recentKept = 5

/** The last results of steps and agents. */
export class RecentSteps {
  readonly #kept: StepResult[] = []

  add(event: LogEvent): void {
    const result = stepResultOf(event)
    if (result === null) return
    if (this.#kept.length === recentKept) this.#kept.shift()
    this.#kept.push(result)
  }

  last(count: number): readonly StepResult[] {
    return this.#kept.slice(-count)
  }
}

/** What an event says of a step that has a result; null for all other events. */
export function stepResultOf({ type, kind, failed, name, payload, tookMs }: LogEvent): StepResult | null {
  if (type !== 'settled' || failed || (kind !== 'step' && kind !== 'llm')) return null
  return { kind, name, payload, tookMs: tookMs ?? 0 }
}
