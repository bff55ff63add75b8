import type { RunJson } from '@pawl/server'

/** The exit status of the process, by what came of the command. */
export const exit = {
  done: 0,
  runFailed: 1,
  usage: 2,
  waiting: 3,
  notFound: 4,
  refused: 5,
  stuck: 6,
  unreachable: 7,
  timedOut: 8,
  interrupted: 130,
} as const
export type ExitStatus = (typeof exit)[keyof typeof exit]

const byCode: Readonly<Record<string, ExitStatus>> = {
  'ask-not-found': exit.notFound,
  'run-not-found': exit.notFound,
  'procedure-unknown': exit.notFound,
  'not-found': exit.notFound,
  'option-invalid': exit.usage,
  'duration-invalid': exit.usage,
  'request-invalid': exit.usage,
  'run-failed': exit.runFailed,
  'run-cancelled': exit.runFailed,
  'output-invalid': exit.runFailed,
  nondeterminism: exit.stuck,
  'foreign-await': exit.stuck,
  'procedure-broken': exit.stuck,
  'version-gone': exit.stuck,
  'run-quarantined': exit.stuck,
  'store-unusable': exit.unreachable,
  'engine-stopped': exit.unreachable,
  'wait-timed-out': exit.timedOut,
}

/** The status for an error code. Any other refusal is 5. */
export function exitOf(code: string): ExitStatus {
  return byCode[code] ?? exit.refused
}

/** A missing status of runs is a type error. */
const byRunStatus: { readonly [S in RunJson['status']]: ExitStatus } = {
  running: exit.waiting,
  waiting: exit.waiting,
  completed: exit.done,
  failed: exit.runFailed,
  cancelled: exit.runFailed,
  stuck: exit.stuck,
  quarantined: exit.stuck,
}
export const runStatuses: readonly string[] = Object.keys(byRunStatus)

/** The status for the state of a run. A later server may have states of its own. */
export function exitOfRun(status: RunJson['status']): ExitStatus {
  return byRunStatus[status] ?? exit.waiting
}
