import type { Role, Run, RunStatus } from '../api/types.ts'

/** What an operator does to runs. */
export type RunAction = 'retry' | 'cancel'

const doable: Readonly<Record<RunAction, readonly RunStatus[]>> = {
  retry: ['stuck', 'quarantined'],
  cancel: ['running', 'waiting', 'stuck'],
}

/** The statuses of a filter in which runs can be acted on; '' stands for any. */
export function statusesFor(action: RunAction, status: RunStatus | ''): readonly RunStatus[] {
  return status === '' ? doable[action] : doable[action].filter((one) => one === status)
}

export function isDoable(action: RunAction, { status, cancelRequestedAt }: Run): boolean {
  return doable[action].includes(status) && !(action === 'cancel' && cancelRequestedAt !== undefined)
}

/** Whether a role may act on runs. The server decides; without the right the buttons are not shown. */
export function mayAct(role: Role): boolean {
  return role === 'operate' || role === 'admin'
}
