import type { TurnOwner } from '../../kernel/turns.ts'
import { currentBody } from '../body.ts'
import { turns } from '../turn.ts'

/**
 * Returns the run that the current code belongs to; null outside turns.
 * A step body that resumes inside a turn, because the procedure resolved something, still counts as outside.
 */
export function governingRun(): TurnOwner | null {
  const run = turns.current
  return run === null || run.determinism === 'off' || currentBody() !== undefined ? null : run
}
