import type { ProcedureDefinition, ProcedureOperation } from '@pawl/core/internal'

/** What an exploration does not walk, although the procedure depends on it. */
export type Unexplored = (typeof unexploredParts)[number]

/** All of them, in the order in which a report names them. */
export const unexploredParts = [
  /** `ctx.random()`, `ctx.uuid()`: one value each. */
  'random',
  /** `ctx.now()`: only the times of the outcomes. */
  'time',
  /** Who answered: one person. */
  'by',
  /** The comment of an answer: none. */
  'comment',
  /** `ctx.version()`: only the newest branch. */
  'version',
  /** The handlers of updates. */
  'updates',
  /** What `ctx.continueAs` begins. */
  'generations',
  /** What children do. */
  'children',
  /** Undos, and what a rollback does. */
  'undos',
] as const

/** Notes what is not explored while paths are walked. */
export class Gaps {
  readonly #found = new Set<Unexplored>()

  constructor({ updates }: Pick<ProcedureDefinition, 'updates'>) {
    if (updates !== undefined && updates.size > 0) this.note('updates')
  }

  note(part: Unexplored): void {
    this.#found.add(part)
  }

  /** Notes what an operation does beyond the path. */
  noteOperation(operation: ProcedureOperation): void {
    const { kind } = operation
    if (kind === 'child' || kind === 'spawn') this.note('children')
    // A step with an undo reads its result also after its scope was closed.
    if (operation.readLate !== undefined || kind === 'undo') this.note('undos')
  }

  /** Notes a field of an answer that was read. */
  noteRead(field: string | undefined): void {
    if (field === 'by' || field === 'comment') this.note(field)
  }

  get found(): readonly Unexplored[] {
    return unexploredParts.filter((part) => this.#found.has(part))
  }
}
