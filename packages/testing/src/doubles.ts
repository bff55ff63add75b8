import { type Effects, findNearest } from '@pawl/core/internal'

/** Replacements for the bodies of steps and agents. */
export interface Doubles {
  /**
   * Results of steps, or functions that replace their bodies, by name. `*` in a name matches any text; exact names win.
   * Default: none.
   */
  readonly steps?: { readonly [step: string]: unknown }
  /**
   * Outputs of agents, or functions of the input, by name. `*` in a name matches any text; exact names win.
   * Default: none.
   */
  readonly agents?: { readonly [agent: string]: unknown }
  /**
   * Whether `stop()` and the disposal reject if a double was never called or a real body ran. `false` logs a warning
   * instead, if doubles are given. Default: `false`.
   */
  readonly strict?: boolean
}

type Body = (...args: never[]) => unknown

type Kind = 'step' | 'agent'

/** Minimum length of a name that may be a misspelling: two changed letters make a shorter name a different one. */
const minMistakenLength = 5

/** Maximum number of names in one sentence. */
const namesListed = 10

/** Chooses a double for each body, and counts the calls of both over all lives of the worker. */
export class Calls {
  readonly #doubles: Doubles
  readonly #counts = new Map<string, number>()
  /** Kind and key of each double that was called. */
  readonly #called = new Set<string>()
  readonly #realBodies: { readonly [kind in Kind]: Set<string> } = { step: new Set(), agent: new Set() }

  constructor(doubles: Doubles) {
    this.#doubles = doubles
  }

  /** Counts a call and returns its double, if there is one. */
  begin(kind: Kind, name: string): Body | undefined {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    const doubles = this.#of(kind)
    const key = findKey(doubles, name)
    if (key === undefined) {
      this.#realBodies[kind].add(name)
      return undefined
    }
    this.#called.add(`${kind} ${key}`)
    const double = doubles[key]
    return typeof double === 'function' ? (double as Body) : () => double
  }

  toObject(): { readonly [name: string]: number } {
    return Object.fromEntries(this.#counts)
  }

  /** Returns a sentence for each double that was never called, and for real bodies that ran although doubles were given. */
  describeMisuse(): readonly string[] {
    const named = new Set<string>()
    const unused = (['step', 'agent'] as const).flatMap((kind) =>
      Object.keys(this.#of(kind))
        .filter((key) => !this.#called.has(`${kind} ${key}`))
        .map((key) => this.#describeUnused(kind, key, named)),
    )
    const areGiven = this.#called.size > 0 || unused.length > 0
    if (!areGiven && this.#doubles.strict !== true) return []
    return [...unused, ...this.#describeReal('step', named), ...this.#describeReal('agent', named)]
  }

  #of(kind: Kind): { readonly [name: string]: unknown } {
    return (kind === 'step' ? this.#doubles.steps : this.#doubles.agents) ?? {}
  }

  /** Adds the real body that the double was probably meant for to `named`. */
  #describeUnused(kind: Kind, key: string, named: Set<string>): string {
    const subject = `The double of the ${kind} "${key}" was never called`
    for (const real of ['step', 'agent'] as const) {
      const meant = findNearest(key, [...this.#realBodies[real]])
      if (meant === undefined || (meant !== key && key.length < minMistakenLength)) continue
      named.add(`${real} ${meant}`)
      const move = meant === key ? `Move it to \`${real}s\`` : `Rename it`
      return `${subject}, and the real body of the ${real} "${meant}" ran. ${move} if it is meant for that ${real}.`
    }
    return `${subject}. Remove it, or correct its name.`
  }

  #describeReal(kind: Kind, named: ReadonlySet<string>): readonly string[] {
    const names = [...this.#realBodies[kind]].filter((name) => !named.has(`${kind} ${name}`))
    if (names.length === 0) return []
    const listed = names.slice(0, namesListed).map((name) => `"${name}"`)
    const more = names.length > namesListed ? ` and ${names.length - namesListed} more` : ''
    const what =
      names.length === 1
        ? `The real body of the ${kind} ${listed[0]} ran.`
        : `The real bodies of ${names.length} ${kind}s ran: ${listed.join(', ')}${more}.`
    return [
      `${what} Add ${names.length === 1 ? 'its name' : 'their names'} to \`${kind}s\`; \`*\` in a name matches any text.`,
    ]
  }
}

/** Returns the exact name, or the first pattern that matches it. */
export function findKey(doubles: object, name: string): string | undefined {
  if (Object.hasOwn(doubles, name)) return name
  return Object.keys(doubles).find((key) => key.includes('*') && matches(key, name))
}

/** Compares part by part, because a regular expression with many `*` can take exponential time. */
function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop() ?? ''
  if (!name.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

/** Runs the bodies of one worker life, or their doubles, and tracks which are running. */
export class Bodies implements Effects {
  readonly #calls: Calls
  readonly #onSign: () => void
  readonly #atWork = new Set<object>()

  constructor(calls: Calls, onSign: () => void) {
    this.#calls = calls
    this.#onSign = onSign
  }

  get atWork(): readonly object[] {
    return [...this.#atWork]
  }

  step<B extends Body>(name: string, body: B): B {
    return this.#watch('step', name, body) as B
  }

  agent<B extends Body>(name: string, body: B): B {
    return this.#watch('agent', name, body) as B
  }

  #watch(kind: Kind, name: string, body: Body): (...args: never[]) => Promise<unknown> {
    return async (...args) => {
      const work = {}
      const double = this.#calls.begin(kind, name)
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
