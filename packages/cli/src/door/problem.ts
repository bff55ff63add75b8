import type { Problem } from '@pawl/server'
import { type ExitStatus, exit, exitOf } from '../exit.ts'

/** A refused request. Carries the problem document that `--json` prints. */
export class CommandError extends Error {
  readonly problem: Problem
  readonly status: ExitStatus

  constructor(problem: Problem, status: ExitStatus = exitOf(problem.code)) {
    super(problem.detail)
    this.problem = problem
    this.status = status
  }
}

/** A mistake in how the command was called. */
export function usageError(detail: string): CommandError {
  return new CommandError(
    { type: 'about:blank', title: 'usage', status: 400, detail, code: 'request-invalid' },
    exit.usage,
  )
}

/** The store or the server does not answer. */
export function unreachable(detail: string): CommandError {
  return new CommandError(
    { type: 'about:blank', title: 'unreachable', status: 503, detail, code: 'store-unusable' },
    exit.unreachable,
  )
}

/** Ctrl-C has ended the command. */
export function interrupted(detail: string, code: Problem['code'] = 'request-invalid'): CommandError {
  return new CommandError(
    { type: 'about:blank', title: 'interrupted', status: 499, detail, code },
    exit.interrupted,
  )
}
