import type { RunView } from '@pawl/core'
import { endStatuses } from '@pawl/core/internal'

/** Whether a run has completed, failed or been cancelled. */
export function hasEnded({ status }: RunView): boolean {
  return endStatuses.includes(status)
}
