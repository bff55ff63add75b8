import type { ActivityContext } from '../activity.ts'

const firstDelayMs = 1_000
const maxDelayMs = 60_000

/** The wait of an operation for a child that comes with an import of its own: it looks again at longer and longer intervals. */
export class Absence {
  readonly #context: ActivityContext
  #delayMs = firstDelayMs
  #dueAt: number | null = null

  constructor(context: ActivityContext) {
    this.#context = context
  }

  /** When the operation looks again. Null: it does not wait. */
  get dueAt(): number | null {
    return this.#dueAt
  }

  /** Begins to wait for a run that is missing. False: no import says that it comes later. */
  begin(run: string): boolean {
    const { others } = this.#context
    if (!others.comesLater(run)) return false
    others.warnOfMissing(run)
    this.#dueAt = this.#context.now() + this.#delayMs
    this.#delayMs = Math.min(2 * this.#delayMs, maxDelayMs)
    return true
  }

  end(): void {
    this.#dueAt = null
  }
}
