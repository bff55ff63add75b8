import type { AgentCall, Usage } from '../../authoring/agent.ts'
import { copyUsage, gatherUsage } from './usage.ts'

/** Before they are added up. */
const mostReports = 1_000

/**
 * What a body is called with. Key and signal are made when first asked for: most bodies look at neither. They are
 * members of its own, so that `{ ...call }` has them too. `usages`: where what the call costs is gathered.
 */
export function createCall(
  key: () => string,
  attempt: number,
  signal: () => AbortSignal,
  usages: Usage[],
): AgentCall {
  return {
    get idempotencyKey() {
      return key()
    },
    attempt,
    get signal() {
      return signal()
    },
    // Copied at once, and refused here if it cannot be kept.
    usage: (usage) => {
      usages.push(copyUsage(usage))
      if (usages.length > mostReports) usages.splice(0, Infinity, ...gatherUsage(usages))
    },
  }
}
