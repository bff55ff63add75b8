import type { AgentCall, Usage } from '../../authoring/agent.ts'
import { copyUsage, gatherUsage } from './usage.ts'

/** Before they are added up. */
const mostReports = 1_000

/** What a body is called with. Key and signal are made when first asked for: most bodies look at neither. */
export class Call implements AgentCall {
  readonly #key: () => string
  readonly attempt: number
  readonly #signal: () => AbortSignal
  readonly #usages: Usage[]

  /** `usages`: where what the call costs is gathered. */
  constructor(key: () => string, attempt: number, signal: () => AbortSignal, usages: Usage[]) {
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
    this.#usages.push(copyUsage(usage))
    if (this.#usages.length > mostReports) this.#usages.splice(0, Infinity, ...gatherUsage(this.#usages))
  }
}
