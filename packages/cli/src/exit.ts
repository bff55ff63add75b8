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

/** The status for the state of a run. */
export function exitOfRun(status: string): ExitStatus {
  switch (status) {
    case 'completed':
      return exit.done
    case 'failed':
    case 'cancelled':
      return exit.runFailed
    case 'stuck':
    case 'quarantined':
      return exit.stuck
    default:
      return exit.waiting
  }
}
