import type { AgentCall, Usage } from '../../authoring/agent.ts'
import { decode, encode } from '../../events/payload.ts'

/** What a body is called with. Key and signal are made when first asked for: most bodies look at neither. */
export class Call implements AgentCall {
  readonly #key: () => string
  readonly attempt: number
  readonly #signal: () => AbortSignal
  readonly #usages: object[]

  /** `usages`: where what the call costs is gathered. */
  constructor(key: () => string, attempt: number, signal: () => AbortSignal, usages: object[]) {
    this.#key = key
    this.attempt = attempt
    this.#signal = signal
    this.#usages = usages
  }

  get idempotencyKey(): string {
    return this.#key()
  }

  get signal(): AbortSignal {
    return this.#signal()
  }

  /** Copied at once, and refused here if it cannot be kept. */
  readonly usage = (usage: Usage): void => {
    this.#usages.push(decode(encode(usage, 'usage')) as object)
  }
}
