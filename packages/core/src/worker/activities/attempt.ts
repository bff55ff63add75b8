import { showValue } from '../../base/text.ts'
import { type Body, runBody } from '../../host/body.ts'
import type { Workplace } from './activity.ts'

export type AttemptOutcome =
  | { readonly state: 'done'; readonly value: unknown; readonly tookMs: number }
  | { readonly state: 'failed' | 'timed-out'; readonly error: unknown; readonly tookMs: number }

export interface AttemptOptions {
  /** For messages. */
  readonly describe: string
  readonly timeoutMs: number | null
  readonly body: (signal: () => AbortSignal) => unknown
  /** Called once, unless the attempt was abandoned. */
  readonly onEnd: (outcome: AttemptOutcome) => void
}

/**
 * The author's code, once, in a slot of its own. It ends with the first of its result, its failure, and its
 * timeout; whatever it does afterwards changes nothing any more.
 */
export class Attempt implements Body {
  readonly #place: Workplace
  readonly #options: AttemptOptions
  readonly #beganAt: number
  #abort: AbortController | null = null
  #disarm: () => void = () => {}
  #over = false

  constructor(place: Workplace, options: AttemptOptions) {
    this.#place = place
    this.#options = options
    this.#beganAt = place.clock.elapsed()
  }

  begin(): void {
    const { timeoutMs } = this.#options
    if (timeoutMs !== null) this.#disarm = this.#place.clock.after(timeoutMs, () => this.#timeOut())
    runBody(this)
  }

  // ── as a body

  get describe(): string {
    return this.#options.describe
  }

  run(): unknown {
    return this.#options.body(this.#signal)
  }

  onDone(value: unknown): void {
    this.#end({ state: 'done', value, tookMs: this.#took() })
  }

  onFailed(error: unknown): void {
    this.#end({ state: 'failed', error, tookMs: this.#took() })
  }

  onStray(error: unknown): void {
    this.#place.logger.error(
      `${this.describe} left something behind that failed, and the run goes on without it: ${showValue(error)}`,
      { error },
    )
  }

  /** The run has ended or gone elsewhere: nobody waits for this any more. */
  abandon(): void {
    this.#finish()
    this.#abort?.abort(new Error('the run does not wait for this any more'))
  }

  readonly #signal = (): AbortSignal => {
    this.#abort ??= new AbortController()
    if (this.#over) this.#abort.abort()
    return this.#abort.signal
  }

  #timeOut(): void {
    const error = Object.assign(new Error('the attempt timed out'), { name: 'TimeoutError' })
    const aborted = this.#abort
    this.#end({ state: 'timed-out', error, tookMs: this.#took() })
    aborted?.abort(error)
  }

  #took(): number {
    return Math.round(this.#place.clock.elapsed() - this.#beganAt)
  }

  #end(outcome: AttemptOutcome): void {
    if (this.#over) return
    this.#finish()
    this.#options.onEnd(outcome)
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#disarm()
    this.#place.slots.release()
  }
}
