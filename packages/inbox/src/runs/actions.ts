import type { Run, RunStatus } from '@pawl/server/internal'

/** The actions of an operator on runs. */
export type RunAction = 'retry' | 'cancel'

const doable: Readonly<Record<RunAction, readonly RunStatus[]>> = {
  retry: ['stuck', 'quarantined'],
  cancel: ['running', 'waiting', 'stuck'],
}

/** The statuses of a filter in which runs can be acted on; '' stands for any. */
export function statusesFor(action: RunAction, status: RunStatus | ''): readonly RunStatus[] {
  return status === '' ? doable[action] : doable[action].filter((one) => one === status)
}

/** A failed run is retried by itself: whether all failed runs of a filter should be is a question for each. */
export function isDoable(action: RunAction, { status, cancelRequestedAt }: Run): boolean {
  if (action === 'retry' && status === 'failed') return true
  return doable[action].includes(status) && !(action === 'cancel' && cancelRequestedAt !== undefined)
}
