import { showValue } from '../../../base/text.ts'
import { type Body, runBody } from '../../../host/body.ts'
import type { ActivityContext } from '../activity.ts'

export type AttemptOutcome =
  | { readonly state: 'done'; readonly value: unknown; readonly tookMs: number }
  | { readonly state: 'failed' | 'timed-out'; readonly error: unknown; readonly tookMs: number }

/** The owner of an attempt. */
export interface AttemptOwner {
  /** Describes the code, for messages. */
  readonly describe: string
  readonly timeoutMs: number | null
  /** Runs the author's code. */
  run(attempt: Attempt): unknown
  /** Called once, unless the attempt was abandoned. */
  onEnd(outcome: AttemptOutcome): void
}

/**
 * One attempt of the author's code, in a slot. It ends with its result, its error, or its timeout, whichever comes first;
 * later results are ignored.
 */
export class Attempt implements Body {
  readonly #context: ActivityContext
  readonly #owner: AttemptOwner
  readonly #beganAt: number
  #abort: AbortController | null = null
  #disarm: (() => void) | null = null
  #over = false

  constructor(context: ActivityContext, owner: AttemptOwner) {
    this.#context = context
    this.#owner = owner
    this.#beganAt = context.clock.elapsed()
  }

  begin(): void {
    const { timeoutMs } = this.#owner
    if (timeoutMs !== null) this.#disarm = this.#context.clock.after(timeoutMs, () => this.#timeOut())
    runBody(this)
  }

  /** Aborted when the result is no longer awaited. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.#over) this.#abort.abort()
    return this.#abort.signal
  }

  // ── as a body

  get describe(): string {
    return this.#owner.describe
  }

  run(): unknown {
    return this.#owner.run(this)
  }

  onDone(value: unknown): void {
    this.#end({ state: 'done', value, tookMs: this.#took() })
  }

  onFailed(error: unknown): void {
    this.#end({ state: 'failed', error, tookMs: this.#took() })
  }

  onUnhandled(error: unknown): void {
    this.#context.logger.error(
      `Code that ${this.describe} left running has failed; the run continues without it: ${showValue(error)}`,
      { error },
    )
  }

  /** Abandons the attempt: the run has ended or has another owner. */
  abandon(): void {
    this.#finish()
    this.#abort?.abort(new Error('this process no longer waits for the result'))
  }

  #timeOut(): void {
    const error = Object.assign(new Error('the attempt timed out'), { name: 'TimeoutError' })
    const aborted = this.#abort
    this.#end({ state: 'timed-out', error, tookMs: this.#took() })
    aborted?.abort(error)
  }

  #took(): number {
    return Math.round(this.#context.clock.elapsed() - this.#beganAt)
  }

  #end(outcome: AttemptOutcome): void {
    if (this.#over) return
    this.#finish()
    this.#owner.onEnd(outcome)
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#disarm?.()
    this.#context.slots.release()
  }
}
