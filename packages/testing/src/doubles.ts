import type { Effects } from '@pawl/core/internal'

/** What stands in for the bodies of steps and agents. */
export interface Doubles {
  /** By name: a result, or a function in place of the step's body. */
  readonly steps?: { readonly [step: string]: unknown }
  /** By agent name: an output, or a function of the input. */
  readonly agents?: { readonly [agent: string]: unknown }
}

type Body = (...args: never[]) => unknown

/** Counts how often each body ran, over all lives of the worker. */
export class Calls {
  readonly #counts = new Map<string, number>()

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  toObject(): { readonly [name: string]: number } {
    return Object.fromEntries(this.#counts)
  }
}

/** The bodies of one life of a worker: doubles where there are any, each counted, and known while it is at work. */
export class Bodies implements Effects {
  readonly #doubles: Doubles
  readonly #calls: Calls
  readonly #onSign: () => void
  readonly #atWork = new Set<object>()

  constructor(doubles: Doubles, calls: Calls, onSign: () => void) {
    this.#doubles = doubles
    this.#calls = calls
    this.#onSign = onSign
  }

  get atWork(): readonly object[] {
    return [...this.#atWork]
  }

  step<B extends Body>(name: string, body: B): B {
    return this.#watch(name, find(this.#doubles.steps, name) ?? body) as B
  }

  agent<B extends Body>(name: string, body: B): B {
    return this.#watch(name, find(this.#doubles.agents, name) ?? body) as B
  }

  #watch(name: string, body: Body): (...args: never[]) => Promise<unknown> {
    return async (...args) => {
      const work = {}
      this.#calls.add(name)
      this.#atWork.add(work)
      this.#onSign()
      try {
        return await body(...args)
      } finally {
        this.#atWork.delete(work)
        this.#onSign()
      }
    }
  }
}

function find(doubles: Readonly<Record<string, unknown>> | undefined, name: string): Body | undefined {
  if (doubles === undefined || !Object.hasOwn(doubles, name)) return undefined
  const double = doubles[name]
  return typeof double === 'function' ? (double as Body) : () => double
}
