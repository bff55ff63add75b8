import type { TurnOwner } from '../../kernel/turns.ts'
import { currentBody } from '../body.ts'
import { turns } from '../turn.ts'

/**
 * The run the present code has to answer to; null outside turns. A step body that goes on in a turn, because the
 * procedure has woken it, is outside all the same.
 */
export function governingRun(): TurnOwner | null {
  const run = turns.current
  return run === null || run.determinism === 'off' || currentBody() !== undefined ? null : run
}
