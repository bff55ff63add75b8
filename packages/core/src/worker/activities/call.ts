import type { AgentCall, Usage } from '../../authoring/agent.ts'
import { copyUsage, gatherUsage } from './usage.ts'

/** Before they are added up. */
const mostReports = 1_000

export interface CallOptions {
  /** The idempotency key, and the signal: made when first asked for, since most bodies look at neither. */
  readonly key: () => string
  readonly signal: () => AbortSignal
  readonly attempt: number
  /** Where what the call costs is gathered. */
  readonly usages: Usage[]
}

/**
 * What a body is called with: members of its own, so that `{ ...call }` has them all. To make them takes about a tenth of
 * the time of a step. A body that cannot see what it is called with, as most cannot, is given them more cheaply.
 */
export function createCall(body: (call: AgentCall) => unknown, options: CallOptions): AgentCall {
  if (seesNothing(body)) return new UnseenCall(options)
  return {
    get idempotencyKey() {
      return options.key()
    },
    attempt: options.attempt,
    get signal() {
      return options.signal()
    },
    usage: (usage) => report(options.usages, usage),
  }
}

/** An arrow function without parameters: it has no `arguments` either. Its length would not tell it from `(...args) =>`. */
function seesNothing(body: (call: AgentCall) => unknown): boolean {
  return /^(?:async ?)?\(\) ?=>/.test(Function.prototype.toString.call(body))
}

class UnseenCall implements AgentCall {
  readonly #options: CallOptions
  readonly attempt: number

  constructor(options: CallOptions) {
    this.#options = options
    this.attempt = options.attempt
  }

  get idempotencyKey(): string {
    return this.#options.key()
  }

  get signal(): AbortSignal {
    return this.#options.signal()
  }

  readonly usage = (usage: Usage): void => report(this.#options.usages, usage)
}

/** Copied at once, and refused here if it cannot be kept. */
function report(usages: Usage[], usage: Usage): void {
  usages.push(copyUsage(usage))
  if (usages.length > mostReports) usages.splice(0, Infinity, ...gatherUsage(usages))
}
