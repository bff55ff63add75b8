import type { Pending } from '../../kernel/operation.ts'
import type { Scope } from '../../kernel/scope.ts'
import type { Draft } from '../activities/activity.ts'

/** Returns the scope of a pending operation. */
export type ScopeOf = (position: number) => Scope | undefined

/**
 * Limits the log to results of one branch of an open race until they are delivered. Otherwise a signal that the losing
 * branch took in the same commit would be lost.
 */
export class RaceArms {
  readonly #scopeOf: ScopeOf
  /** By race, the branch whose results are in the log but not delivered. Null in most runs. */
  #undelivered: Map<Scope, Scope> | null = null

  constructor(scopeOf: ScopeOf) {
    this.#scopeOf = scopeOf
  }

  /** Whether a result of the operation may be written with these drafts: no other branch of a race around it comes first. */
  admits(position: number, drafts: readonly Draft[]): boolean {
    const branches = this.#branchesOf(position)
    if (branches.length === 0) return true
    const chosen = new Map(this.#undelivered)
    for (const { type, pending } of drafts) if (type === 'settled') this.#choose(pending.position, chosen)
    return branches.every(([race, branch]) => (chosen.get(race) ?? branch) === branch)
  }

  /** Returns the drafts that may be written together: for each race only the first branch. */
  select(drafts: readonly Draft[]): readonly Draft[] {
    const chosen = new Map(this.#undelivered)
    const refused = new Set<number>()
    for (const { type, pending } of drafts)
      if (type === 'settled' && !this.#choose(pending.position, chosen)) refused.add(pending.position)
    return refused.size === 0 ? drafts : drafts.filter(({ pending }) => !refused.has(pending.position))
  }

  onWritten(drafts: readonly Draft[]): void {
    if (!drafts.some(isScoped)) return
    this.#undelivered ??= new Map()
    for (const { type, pending } of drafts)
      if (type === 'settled') this.#choose(pending.position, this.#undelivered)
  }

  onDelivered(): void {
    this.#undelivered = null
  }

  #choose(position: number, chosen: Map<Scope, Scope>): boolean {
    const branches = this.#branchesOf(position)
    if (branches.some(([race, branch]) => (chosen.get(race) ?? branch) !== branch)) return false
    for (const [race, branch] of branches) chosen.set(race, branch)
    return true
  }

  /** Returns the open races around an operation, each with the branch that contains it. */
  #branchesOf(position: number): readonly (readonly [race: Scope, branch: Scope])[] {
    const found: [Scope, Scope][] = []
    let at = this.#scopeOf(position)
    for (; at !== undefined && at.parent !== null; at = at.parent)
      if (at.parent.isRace) found.push([at.parent, at])
    return found
  }
}

/** Whether an operation is in a branch of a race that is open. */
export function isInRace({ scope }: Pick<Pending, 'scope'>): boolean {
  for (let at = scope.parent; at !== null; at = at.parent) if (at.isRace) return true
  return false
}

/** Whether an operation is in a nested scope; most are not. */
export function isScoped({ pending }: Pick<Draft, 'pending'>): boolean {
  return pending.scope.parent !== null
}
