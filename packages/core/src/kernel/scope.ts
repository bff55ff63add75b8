/**
 * What a `ctx` belongs to. To close a scope is to close all scopes in it but those behind a shield: what is pending in
 * them is rejected, one operation a turn, and what is issued in them later is refused.
 */
export interface Scope {
  readonly parent: Scope | null
  /** No closing outside it reaches it. A shield that is over shields nothing. */
  shielded: boolean
  closed: Closing | null
  /** A race that is open: of the scopes in it only one may have results in a commit. */
  isRace: boolean
}

/** Why a scope is closed. */
export interface Closing {
  /** What an operation is rejected with, made anew for each; null: it never settles. */
  readonly error: (() => unknown) | null
  /** The turn it was closed in. */
  readonly turn: number
  /** Operations issued in a later turn. */
  refused: number
}

/** So many operations of a closed scope are refused; later ones never settle, so that no loop goes on for ever. */
export const maxRefused = 1_000

export function createScope(parent: Scope | null, shielded = false): Scope {
  return { parent, shielded, closed: null, isRace: false }
}

/** Returns what has closed a scope: itself, or one around it that no shield keeps away. */
export function closingOf(scope: Scope): Closing | null {
  for (let at: Scope | null = scope; at !== null; at = at.shielded ? null : at.parent)
    if (at.closed !== null) return at.closed
  return null
}

/** Returns the outermost scope around a scope, whatever shields are between. */
export function outermostOf(scope: Scope): Scope {
  let at = scope
  while (at.parent !== null) at = at.parent
  return at
}
