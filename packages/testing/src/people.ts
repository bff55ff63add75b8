import { type Actor, type Answer, type Ask, type Client, type Duration, PawlError } from '@pawl/core'
import { parseDuration } from '@pawl/core/internal'
import type { VirtualClock } from './virtual-clock.ts'

/** A scripted person. An ask nobody matches fails the test and says so. */
export interface Person {
  /** A part of the message, a pattern, or a question about the ask. */
  readonly ask: string | RegExp | ((ask: Ask) => boolean)
  readonly answer: Answer | 'silence' | ((ask: Ask) => Answer)
  /** Of virtual time, from when it is asked. Default '1s'. */
  readonly after?: Duration
  /** Default 'user:test'. */
  readonly as?: Actor
}

/** The people of a test: each ask is answered by the first who matches. */
export class People {
  readonly #clock: VirtualClock
  readonly #inbox: Client['inbox']
  readonly #people: Person[] = []
  /** Asks that somebody has taken, or shall leave alone. */
  readonly #taken = new Set<string>()
  #toLook = true
  #answering = 0
  #fault: { readonly error: unknown } | null = null

  constructor(clock: VirtualClock, inbox: Client['inbox']) {
    this.#clock = clock
    this.#inbox = inbox
  }

  /** Answers are on their way. */
  get isBusy(): boolean {
    return this.#answering > 0
  }

  add(people: readonly Person[]): void {
    this.#people.push(...people)
    this.#toLook = true
  }

  /** There may be new asks. */
  notice(): void {
    this.#toLook = true
  }

  /** Finds somebody for every open ask. @throws Error if there is nobody, or somebody's script was wrong */
  async look(): Promise<void> {
    if (this.#fault !== null) throw this.#fault.error
    if (!this.#toLook) return
    this.#toLook = false
    const left = (await this.#listOpen()).filter((ask) => !this.#taken.has(ask.id) && !this.#assign(ask))
    if (left.length === 0) return
    this.#toLook = true
    throw new Error(describeUnanswered(left))
  }

  #assign(ask: Ask): boolean {
    const person = this.#people.find((one) => matches(one, ask))
    if (person === undefined) return false
    this.#taken.add(ask.id)
    if (person.answer === 'silence') return true
    const at = ask.askedAt.getTime() + parseDuration(person.after ?? '1s', 'after of a person')
    const { answer, as } = person
    this.#clock
      .see()
      .clock.after(at - this.#clock.now, () => void this.#answer(ask, answer, as ?? 'user:test'))
    return true
  }

  async #answer(ask: Ask, answer: Answer | ((ask: Ask) => Answer), as: Actor): Promise<void> {
    this.#answering++
    try {
      await this.#inbox.answer(ask.id, typeof answer === 'function' ? answer(ask) : answer, { as })
    } catch (error) {
      // Somebody was faster, or it was too late: such is life. A wrong answer is a fault of the test.
      if (!PawlError.is(error, 'ask-closed')) this.#fault ??= { error }
    } finally {
      this.#answering--
    }
  }

  async #listOpen(): Promise<readonly Ask[]> {
    const asks: Ask[] = []
    let cursor: string | undefined
    do {
      const page = await this.#inbox.list({ limit: 500, cursor })
      asks.push(...page.items)
      cursor = page.cursor
    } while (cursor !== undefined)
    return asks
  }
}

function matches({ ask: wanted }: Person, ask: Ask): boolean {
  if (typeof wanted === 'function') return wanted(ask)
  return typeof wanted === 'string' ? ask.message.includes(wanted) : ask.message.search(wanted) >= 0
}

function describeUnanswered(asks: readonly Ask[]): string {
  const list = asks.map(({ kind, message, run }) => `  ${kind}: "${message}" of run "${run}"`)
  return [
    'Nobody in this test answers:',
    ...list,
    "Add a person, such as { ask: 'part of the message', answer: { approved: true } }, or one with answer: 'silence'.",
  ].join('\n')
}
