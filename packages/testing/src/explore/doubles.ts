import type { BodyOperation, Effects, Pending } from '@pawl/core/internal'
import { type Doubles, findKey } from '../doubles.ts'
import { outcomesOf } from './one-of.ts'

type Body = (...args: never[]) => unknown

/** Replaces every body: by its double, or by nothing. A double of several outcomes returns the chosen one. */
export class ExploredDoubles implements Effects {
  readonly #doubles: Doubles
  /** What a body without a double returns. */
  readonly #madeUp: true | undefined
  readonly #called = new Set<string>()
  readonly #missing = new Set<string>()
  #chosen = 0
  #outcomes = 1

  constructor(doubles: Doubles, madeUp?: true) {
    this.#doubles = doubles
    this.#madeUp = madeUp
  }

  /** Whether a body without a double was called. */
  get hasMadeUp(): boolean {
    return this.#missing.size > 0
  }

  step<B extends Body>(name: string, _body: B): B {
    return this.#replace('steps', name) as B
  }

  agent<B extends Body>(name: string, _body: B): B {
    return this.#replace('agents', name) as B
  }

  /** Calls the double of an operation once for each of its outcomes. */
  call({ operation, position }: Pending<BodyOperation>): Promise<readonly Called[]> {
    const call = {
      idempotencyKey: `explored-${position}`,
      signal: new AbortController().signal,
      attempt: 1,
      usage: () => {},
    }
    return this.#callEach(() => operation.body(call))
  }

  /** Calls the double in `steps` that stands for the end of another run. */
  callRun(name: string): Promise<readonly Called[]> {
    return this.#callEach(() => this.#replace('steps', name)())
  }

  async #callEach(body: () => unknown): Promise<readonly Called[]> {
    const all: Called[] = []
    this.#outcomes = 1
    for (this.#chosen = 0; this.#chosen < this.#outcomes; this.#chosen++)
      try {
        all.push({ failed: false, value: await body() })
      } catch (error) {
        all.push({ failed: true, value: error })
      }
    return all
  }

  /** Returns a sentence for each step without a double, and for each double that no path has called. */
  describeMisuse(): readonly string[] {
    const unused = (['steps', 'agents'] as const).flatMap((kind) =>
      Object.keys(this.#doubles[kind] ?? {})
        .filter((name) => !this.#called.has(`${kind} ${name}`))
        .map(
          (name) => `The double "${name}" in \`${kind}\` was never called. Remove it, or correct its name.`,
        ),
    )
    const missing = [...this.#missing].map((name) => `${name} has no double. Add one.`)
    return [...missing, ...unused]
  }

  #replace(kind: 'steps' | 'agents', name: string): Body {
    const doubles = this.#doubles[kind] ?? {}
    const key = findKey(doubles, name)
    if (key === undefined) {
      return () => {
        this.#missing.add(`${kind === 'steps' ? 'Step' : 'Agent'} "${name}"`)
        return this.#madeUp
      }
    }
    return (...args) => {
      this.#called.add(`${kind} ${key}`)
      const outcomes = outcomesOf(doubles[key])
      this.#outcomes = outcomes.length
      const double = outcomes[this.#chosen]
      return typeof double === 'function' ? (double as Body)(...args) : double
    }
  }
}

/** How a double has ended. */
export interface Called {
  readonly failed: boolean
  readonly value: unknown
}
