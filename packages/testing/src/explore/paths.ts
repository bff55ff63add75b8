import type { ProcedureDefinition } from '@pawl/core/internal'
import { type Choice, Choices } from './choices.ts'
import { type DefaultBreach, UnreadQuestions } from './default-rules.ts'
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
  const doubles = new ExploredDoubles(settings.doubles)
  const walked = await walkPaths({ definition, input, settings, doubles }, leavesOut)
  if (walked === null) return null
  const { report, questions, gaps } = walked
  if (report.truncated) return report.close(gaps, [])
  if (settings.doubles.strict === true) checkDoubles(doubles)
  if (questions.hasAny && doubles.hasMadeUp) {
    // A result that was made up may have kept the procedure from what awaits a question.
    const others = new ExploredDoubles(settings.doubles, true)
    const again = await walkPaths({ definition, input, settings, doubles: others }, leavesOut)
    if (again === null || again.report.truncated) return report.close(gaps, [])
    questions.clearBy(again.questions)
  }
  return report.close(gaps, questions.listBreaches(settings.ignore))
}

type Walking = Pick<ConstructorParameters<typeof Walk>[0], 'definition' | 'input' | 'settings' | 'doubles'>

interface Walked {
  readonly report: Report
  readonly questions: UnreadQuestions
  readonly gaps: Gaps
}

async function walkPaths(walking: Walking, leavesOut: boolean): Promise<Walked | null> {
  const choices = new Choices(leavesOut)
  const gaps = new Gaps(walking.definition)
  const questions = new UnreadQuestions()
  const report = new Report()
  for (let from: Choice | null | undefined; from !== null; from = choices.next()) {
    if (report.paths === walking.settings.maxPaths) {
      report.truncated = true
      break
    }
    const path = await new Walk({ ...walking, choices, gaps }, from ?? null).run()
    if (leavesOut && isCopyError(path.error)) return null
    report.add(path)
    questions.add(path)
  }
  report.leftOut = choices.leftOut
  return { report, questions, gaps }
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
  leftOut = 0
  truncated = false
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

  close(gaps: Gaps, breaches: readonly DefaultBreach[]): Exploration {
    const violations = [...this.#violations, ...breaches]
    return {
      paths: this.paths,
      leftOut: this.leftOut,
      cut: this.#cut,
      bounded: this.#bounded,
      truncated: this.truncated,
      ends: Object.fromEntries(this.#ends),
      violations: violations.sort((a, b) => a.outcomes.length - b.outcomes.length),
      unexplored: gaps.found,
    }
  }
}
