import { type Actor, type Answer, type Ask, type Client, type Duration, PawlError } from '@pawl/core'
import {
  askAddressOf,
  checkActor,
  checkObject,
  milliseconds,
  parseDuration,
  refuse,
  required,
} from '@pawl/core/internal'
import { compareOrder, optional, orderOf, readOptions, type Spec } from '@pawl/core/storage'
import { showAsk } from './memory/reads/asks.ts'
import type { AskRecord } from './memory/tables.ts'
import type { VirtualClock } from './virtual-clock.ts'

/**
 * A scripted person who answers asks. An ask that no person matches fails the test.
 * @example
 * { ask: 'Refund', answer: { approved: true }, after: '2h', as: 'user:ann' }
 */
export interface Person {
  /** Selects the asks that the person answers: part of the message, a pattern, or a function of the ask. */
  readonly ask: string | RegExp | ((ask: Ask) => boolean)
  /** The answer, a function of the ask that returns it, or 'silence' to never answer. */
  readonly answer: Answer | 'silence' | ((ask: Ask) => Answer)
  /** Virtual time from the ask to the answer. Default: '1s'. */
  readonly after?: Duration
  /** Actor who answers. Default: 'user:test'. */
  readonly as?: Actor
}

/** Holds the people of a test. The first person who matches an ask answers it. */
export class People {
  readonly #clock: VirtualClock
  readonly #inbox: Client['inbox']
  readonly #asks: readonly AskRecord[]
  readonly #procedures: ReadonlySet<string>
  readonly #people: Person[] = []
  /** Number of asks seen so far. */
  #known = 0
  /** Asks that no person has matched yet. */
  readonly #untaken = new Set<AskRecord>()
  #answering = 0
  #fault: { readonly error: unknown; isReported: boolean } | null = null

  /**
   * @param asks all asks of the store; the list grows
   * @param procedures procedures whose asks these people answer
   */
  constructor(
    clock: VirtualClock,
    inbox: Client['inbox'],
    asks: readonly AskRecord[],
    procedures: readonly string[],
  ) {
    this.#clock = clock
    this.#inbox = inbox
    this.#asks = asks
    this.#procedures = new Set(procedures)
  }

  /** Whether answers are in progress. */
  get isBusy(): boolean {
    return this.#answering > 0
  }

  /** @throws PawlError 'option-invalid', 'duration-invalid' */
  add(people: readonly Person[]): void {
    for (const person of people) checkPerson(person)
    this.#people.push(...people)
  }

  /** @throws the first error that a scripted answer caused */
  check(): void {
    if (this.#fault === null) return
    this.#fault.isReported = true
    throw this.#fault.error
  }

  /** Like `check`, but throws only if the error has not been reported yet. */
  checkLast(): void {
    if (this.#fault?.isReported === false) this.check()
  }

  /** Assigns a person to every open ask. @throws Error if none matches, or if a scripted answer was invalid */
  async look(): Promise<void> {
    this.check()
    for (const ask of this.#asks.slice(this.#known))
      if (this.#procedures.has(ask.run.procedure)) this.#untaken.add(ask)
    this.#known = this.#asks.length
    const unanswered: Ask[] = []
    for (const record of this.#listUntaken()) {
      const ask = await this.#inbox.get(askAddressOf({ run: record.run.id, position: record.position }))
      if (ask?.status === 'open' && !this.#assign(ask)) unanswered.push(ask)
      else this.#untaken.delete(record)
    }
    if (unanswered.length > 0) throw new Error(describeUnanswered(unanswered))
  }

  /** Returns the asks without a person in the order of the inbox: the most urgent is answered first. */
  #listUntaken(): readonly AskRecord[] {
    const { now } = this.#clock
    const places = [...this.#untaken].map((ask) => ({ ask, order: orderOf(showAsk(ask), now) }))
    return places.sort((a, b) => compareOrder(a.order, b.order)).map(({ ask }) => ask)
  }

  #assign(ask: Ask): boolean {
    const person = this.#people.find((one) => matches(one, ask))
    if (person === undefined) return false
    // The engine sets no timer for `dueAt`, but a person's answer may depend on the ask being overdue.
    if (ask.dueAt !== undefined)
      this.#clock.see().clock.after(ask.dueAt.getTime() - this.#clock.now, () => {})
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
      // Read the ask again: it may be overdue by now.
      const given = typeof answer === 'function' ? answer((await this.#inbox.get(ask.id)) ?? ask) : answer
      await this.#inbox.answer(ask.id, given, { as })
    } catch (error) {
      // A late answer is normal. Any other rejection is a mistake in the test.
      const isTooLate = PawlError.is(error, 'ask-closed') || PawlError.is(error, 'engine-stopped')
      if (!isTooLate) this.#fault ??= { error, isReported: false }
    } finally {
      this.#answering--
    }
  }
}

const personOptions = {
  ask: required(checkAsk),
  answer: required(checkAnswer),
  after: optional(milliseconds),
  as: optional(checkActor),
} satisfies Spec<Person>

function checkPerson(person: Person): void {
  readOptions('of a person', checkObject('person of a test', person), personOptions, 'a person of a test')
}

function checkAsk(option: string, ask: unknown): void {
  if (typeof ask !== 'string' && typeof ask !== 'function' && !(ask instanceof RegExp))
    refuse(option, ask, 'It must be part of the message, a pattern or a function of the ask.')
}

function checkAnswer(option: string, answer: unknown): void {
  if (answer !== 'silence' && typeof answer !== 'function' && (typeof answer !== 'object' || answer === null))
    refuse(
      option,
      answer,
      "It must be an answer such as { approved: true }, a function of the ask, or 'silence'.",
    )
}

function matches({ ask: wanted }: Person, ask: Ask): boolean {
  if (typeof wanted === 'function') return wanted(ask)
  return typeof wanted === 'string' ? ask.message.includes(wanted) : ask.message.search(wanted) >= 0
}

function describeUnanswered(asks: readonly Ask[]): string {
  const list = asks.map(({ kind, message, run }) => `  ${kind}: "${message}" of run "${run}"`)
  return [
    'No person in this test matches:',
    ...list,
    "Add a person such as `{ ask: 'part of the message', answer: { approved: true } }`, or one with `answer: 'silence'`.",
  ].join('\n')
}
