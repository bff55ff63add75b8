import type { ActKind } from './exploration.ts'
import type { DefaultRule } from './options.ts'
import { brief } from './outcomes/outcome.ts'
import type { Act, AskedQuestion } from './questions.ts'

/** What broke a default rule. `step` is undefined if no act did. */
export interface DefaultBreach {
  readonly step: string | undefined
  readonly act: ActKind | undefined
  readonly rule: DefaultRule
  readonly why: string
  readonly outcomes: readonly string[]
}

/** How a path ends. 'open': where the procedure would continue, since it was cut, waits, or met a programming error. */
export type Ending = 'ended' | 'open' | 'cancelled'

/** A path, as far as questions are concerned. */
interface JudgedPath {
  readonly asked: readonly AskedQuestion[]
  readonly labels: readonly string[]
  readonly ending: Ending
}

interface FollowingAct extends Act {
  readonly outcomes: readonly string[]
}

/** What all paths did with one question. */
interface Finding {
  /** Whether a path awaits it, or ends where code behind the end may await it. */
  isCleared: boolean
  /** The shortest path on which it was answered. */
  answered: readonly string[] | null
  /** By kind and name, each act with the shortest path on which it followed. */
  readonly acts: Map<string, FollowingAct>
}

/**
 * Finds the questions that no path awaits. One path proves nothing: a question may be asked early, and the procedure may return
 * before it needs the answer.
 */
export class UnreadQuestions {
  readonly #findings = new Map<string, Finding>()

  /** Adds a path. One that was cancelled says nothing of what it does not await. */
  add({ asked, labels, ending }: JudgedPath): void {
    for (const { question, isAwaited, isAnswered, acts } of asked) {
      const finding = this.#findingOf(question)
      if (isAwaited || ending === 'open') finding.isCleared = true
      if (ending !== 'ended') continue
      if (isAnswered) finding.answered = shorter(finding.answered, labels)
      for (const act of acts) noteAct(finding, act, labels)
    }
  }

  /** Whether a question was found that no path awaits. */
  get hasAny(): boolean {
    return [...this.#findings.values()].some(({ isCleared }) => !isCleared)
  }

  /** Drops the questions that others have cleared. */
  clearBy(others: UnreadQuestions): void {
    for (const [question, { isCleared }] of others.#findings)
      if (isCleared) this.#findingOf(question).isCleared = true
  }

  listBreaches(ignored: ReadonlySet<DefaultRule>): readonly DefaultBreach[] {
    const breaches = [...this.#findings].flatMap(([question, finding]) =>
      finding.isCleared ? [] : breachesOf(question, finding),
    )
    return breaches.filter(({ rule }) => !ignored.has(rule))
  }

  #findingOf(question: string): Finding {
    const known = this.#findings.get(question)
    if (known !== undefined) return known
    const finding: Finding = { isCleared: false, answered: null, acts: new Map() }
    this.#findings.set(question, finding)
    return finding
  }
}

function breachesOf(question: string, { answered, acts }: Finding): readonly DefaultBreach[] {
  const named = `"${brief(question)}"`
  const unread: DefaultBreach[] =
    answered === null
      ? []
      : [
          {
            ...{ step: undefined, act: undefined, rule: 'unread-answer', outcomes: answered },
            why: `${named} is answered, and nothing awaits the answer`,
          },
        ]
  const beside = [...acts.values()].map(
    ({ kind, name, outcomes }): DefaultBreach => ({
      ...{ step: name, act: kind, rule: 'act-beside-question', outcomes },
      why: `it follows ${named}, whose answer nothing awaits`,
    }),
  )
  return [...beside, ...unread]
}

function noteAct({ acts }: Finding, { kind, name }: Act, labels: readonly string[]): void {
  const key = JSON.stringify([kind, name])
  acts.set(key, { kind, name, outcomes: shorter(acts.get(key)?.outcomes ?? null, labels) })
}

function shorter(known: readonly string[] | null, other: readonly string[]): readonly string[] {
  return known === null || other.length < known.length ? other : known
}
