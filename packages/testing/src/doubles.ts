import { type Effects, findNearest } from '@pawl/core/internal'

/** What stands in for the bodies of steps and agents. */
export interface Doubles {
  /** By name: a result, or a function in place of the step's body. */
  readonly steps?: { readonly [step: string]: unknown }
  /** By agent name: an output, or a function of the input. */
  readonly agents?: { readonly [agent: string]: unknown }
}

type Body = (...args: never[]) => unknown

type Kind = 'step' | 'agent'

/** With two letters changed a shorter name is simply another one. */
const shortestMistaken = 5

/** Counts how often each body ran, over all lives of the worker. */
export class Calls {
  readonly #counts = new Map<string, number>()
  /** Doubles that were called, and by name what ran itself. */
  readonly #doubled = new Set<string>()
  readonly #undoubled = new Map<string, Kind>()

  add(kind: Kind, name: string, isDoubled: boolean): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    if (isDoubled) this.#doubled.add(`${kind} ${name}`)
    else this.#undoubled.set(name, kind)
  }

  toObject(): { readonly [name: string]: number } {
    return Object.fromEntries(this.#counts)
  }

  /** Sentences about doubles that nobody called, while a body of about their name ran itself. */
  describeMistaken({ steps = {}, agents = {} }: Doubles): readonly string[] {
    const names = [
      ...Object.keys(steps).map((name) => ({ kind: 'step', name })),
      ...Object.keys(agents).map((name) => ({ kind: 'agent', name })),
    ]
    return names.flatMap(({ kind, name }) => {
      if (this.#doubled.has(`${kind} ${name}`)) return []
      const meant = findNearest(name, [...this.#undoubled.keys()])
      const isOther = meant !== name && name.length < shortestMistaken
      if (meant === undefined || isOther) return []
      const ran = `the ${this.#undoubled.get(meant)} "${meant}" ran itself`
      return `the double of the ${kind} "${name}" was never called, and ${ran}: is it meant for that?`
    })
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
    return this.#watch('step', name, find(this.#doubles.steps, name), body) as B
  }

  agent<B extends Body>(name: string, body: B): B {
    return this.#watch('agent', name, find(this.#doubles.agents, name), body) as B
  }

  #watch(
    kind: Kind,
    name: string,
    double: Body | undefined,
    body: Body,
  ): (...args: never[]) => Promise<unknown> {
    return async (...args) => {
      const work = {}
      this.#calls.add(kind, name, double !== undefined)
      this.#atWork.add(work)
      this.#onSign()
      try {
        return await (double ?? body)(...args)
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
