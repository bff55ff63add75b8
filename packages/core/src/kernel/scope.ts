/**
 * The scope of a `ctx`. Closing a scope closes all scopes inside it except the ones behind a shield. Their pending
 * operations are rejected, one per turn, and operations issued in them later are refused.
 */
export interface Scope {
  readonly parent: Scope | null
  /** Closing an outer scope does not affect it. A shield that is over has no effect. */
  shielded: boolean
  closed: Closing | null
  /** Whether this is an open race: only one of the scopes inside it may have results in a commit. */
  isRace: boolean
}

/** Why a scope is closed. */
export interface Closing {
  /** Creates the error of each rejected operation; null: operations never settle. */
  readonly error: (() => unknown) | null
  /** The turn in which it was closed. */
  readonly turn: number
  /** The number of operations issued in a later turn. */
  refused: number
}

/** Maximum number of refused operations of a closed scope; later ones never settle, so that a loop cannot run forever. */
export const maxRefused = 1_000

export function createScope(parent: Scope | null, shielded = false): Scope {
  return { parent, shielded, closed: null, isRace: false }
}

/** Returns what closed a scope: its own closing, or one around it that no shield blocks. */
export function closingOf(scope: Scope): Closing | null {
  for (let at: Scope | null = scope; at !== null; at = at.shielded ? null : at.parent)
    if (at.closed !== null) return at.closed
  return null
}

/** Returns the outermost scope around a scope, including scopes outside a shield. */
export function outermostOf(scope: Scope): Scope {
  let at = scope
  while (at.parent !== null) at = at.parent
  return at
}
