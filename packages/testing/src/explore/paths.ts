import type { ProcedureDefinition } from '@pawl/core/internal'
import { type Choice, Choices } from './choices.ts'
import { ExploredDoubles } from './doubles.ts'
import type { Exploration, Violation } from './exploration.ts'
import { Gaps } from './gaps.ts'
import type { ExploreSettings } from './options.ts'
import { type Path, Walk } from './walk.ts'

/**
 * Walks all paths. Null: the procedure copies what it is given in a way that shows how reads are noted, so that nothing can
 * be left out.
 */
export async function explorePaths(
  definition: ProcedureDefinition,
  input: () => unknown,
  settings: ExploreSettings,
  leavesOut: boolean,
): Promise<Exploration | null> {
  const choices = new Choices(leavesOut)
  const doubles = new ExploredDoubles(settings.doubles)
  const report = new Report()
  const gaps = new Gaps(definition)
  for (let from: Choice | null | undefined; from !== null; from = choices.next()) {
    if (report.paths === settings.maxPaths) return report.close(choices.leftOut, true, gaps)
    const path = await new Walk({ definition, input, settings, doubles, choices, gaps }, from ?? null).run()
    if (leavesOut && isCopyError(path.error)) return null
    report.add(path)
  }
  if (settings.doubles.strict === true) checkDoubles(doubles)
  return report.close(choices.leftOut, false, gaps)
}

/** `structuredClone` cannot copy a value whose reads are noted. */
function isCopyError(error: unknown): boolean {
  return (Object(error) as { readonly name?: unknown }).name === 'DataCloneError'
}

function checkDoubles(doubles: ExploredDoubles): void {
  const misuse = doubles.describeMisuse()
  if (misuse.length > 0) throw new Error(`\`strict\` is set:\n- ${misuse.join('\n- ')}`)
}

/** Counts paths. */
class Report {
  paths = 0
  #cut = 0
  #bounded = 0
  readonly #ends = new Map<string, number>()
  readonly #violations: Violation[] = []

  add({ end, labels, consent, isBounded }: Path): void {
    this.paths++
    if (end === 'cut') this.#cut++
    if (isBounded) this.#bounded++
    this.#ends.set(end, (this.#ends.get(end) ?? 0) + 1)
    for (const breach of consent.breaches) this.#violations.push({ ...breach, outcomes: labels })
  }

  close(leftOut: number, truncated: boolean, gaps: Gaps): Exploration {
    return {
      paths: this.paths,
      leftOut,
      cut: this.#cut,
      bounded: this.#bounded,
      truncated,
      ends: Object.fromEntries(this.#ends),
      violations: this.#violations.sort((a, b) => a.outcomes.length - b.outcomes.length),
      unexplored: gaps.found,
    }
  }
}
