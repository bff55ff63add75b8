import type { AgentCall, Usage } from '../../../authoring/agent/agent.ts'
import type { Attempt } from './attempt.ts'
import { copyUsage, gatherUsage } from './usage.ts'

/** Before they are added up. */
const maxReports = 1_000

export interface CallOptions {
  /** The idempotency key: made when it is asked for, since most bodies do not. */
  readonly key: () => string
  readonly attempt: Attempt
  /** The attempt's, from 1. */
  readonly number: number
  /** Where what the call costs is gathered. */
  readonly usages: Usage[]
}

/**
 * What a body is called with: members of its own, so that `{ ...call }` has them all. To make them takes about a tenth of
 * the time of a step. A body that cannot see what it is called with, as most cannot, is called with nothing.
 */
export function createCall(
  body: (call: AgentCall) => unknown,
  { key, attempt, number, usages }: CallOptions,
): AgentCall {
  if (seesNothing(body)) return nothing
  return {
    get idempotencyKey() {
      return key()
    },
    attempt: number,
    get signal() {
      return attempt.signal
    },
    usage: (usage) => report(usages, usage),
  }
}

/** An arrow function without parameters: it has no `arguments` either. Its length would not tell it from `(...args) =>`. */
function seesNothing(body: (call: AgentCall) => unknown): boolean {
  return /^(?:async ?)?\(\) ?=>/.test(Function.prototype.toString.call(body))
}

/** For a body that cannot see it. */
const nothing = undefined as unknown as AgentCall

/** Copied at once, and refused here if it cannot be kept. */
function report(usages: Usage[], usage: Usage): void {
  usages.push(copyUsage(usage))
  if (usages.length > maxReports) usages.splice(0, Infinity, ...gatherUsage(usages))
}
