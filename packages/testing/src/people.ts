import { type Actor, type Answer, type Ask, type Client, type Duration, PawlError } from '@pawl/core'
import { askIdOf, checkActor, checkObject, parseDuration, refuse } from '@pawl/core/internal'
import { checkKeys, compareOrder, orderOf } from '@pawl/core/storage'
import { showAsk } from './memory/reads/asks.ts'
import type { AskRecord } from './memory/tables.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** A scripted person. An ask that no person matches fails the test. */
export interface Person {
  /** Which asks the person answers: a part of the message, a pattern, or a function. */
  readonly ask: string | RegExp | ((ask: Ask) => boolean)
  /** The answer, a function that returns it, or 'silence'. */
  readonly answer: Answer | 'silence' | ((ask: Ask) => Answer)
  /** Virtual time from the ask to the answer. Default: '1s'. */
  readonly after?: Duration
  /** Who answers. Default: 'user:test'. */
  readonly as?: Actor
}

/** The people of a test: each ask is answered by the first who matches. */
export class People {
  readonly #clock: VirtualClock
  readonly #inbox: Client['inbox']
  readonly #asks: readonly AskRecord[]
  readonly #procedures: ReadonlySet<string>
  readonly #people: Person[] = []
  /** How many of the asks they know of. */
  #known = 0
  /** Those that nobody has taken yet. */
  readonly #untaken = new Set<AskRecord>()
  #answering = 0
  #fault: { readonly error: unknown; isReported: boolean } | null = null

  /** `asks`: all there are, which grow; `procedures`: whose asks they answer. */
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

  /** Answers are on their way. */
  get isBusy(): boolean {
    return this.#answering > 0
  }

  /** @throws PawlError 'option-invalid', 'duration-invalid' */
  add(people: readonly Person[]): void {
    for (const person of people) checkPerson(person)
    this.#people.push(...people)
  }

  /** @throws what a script has done wrong */
  check(): void {
    if (this.#fault === null) return
    this.#fault.isReported = true
    throw this.#fault.error
  }

  /** As `check`, unless somebody has been told. */
  checkLast(): void {
    if (this.#fault?.isReported === false) this.check()
  }

  /** Finds somebody for every open ask. @throws Error if there is nobody, or somebody's script was wrong */
  async look(): Promise<void> {
    this.check()
    for (const ask of this.#asks.slice(this.#known))
      if (this.#procedures.has(ask.run.procedure)) this.#untaken.add(ask)
    this.#known = this.#asks.length
    const unanswered: Ask[] = []
    for (const record of this.#listUntaken()) {
      const ask = await this.#inbox.get(askIdOf(record.run.id, record.position))
      if (ask?.status === 'open' && !this.#assign(ask)) unanswered.push(ask)
      else this.#untaken.delete(record)
    }
    if (unanswered.length > 0) throw new Error(describeUnanswered(unanswered))
  }

  /** In the order of the inbox: the most urgent is answered first. */
  #listUntaken(): readonly AskRecord[] {
    const { now } = this.#clock
    const places = [...this.#untaken].map((ask) => ({ ask, order: orderOf(showAsk(ask), now) }))
    return places.sort((a, b) => compareOrder(a.order, b.order)).map(({ ask }) => ask)
  }

  #assign(ask: Ask): boolean {
    const person = this.#people.find((one) => matches(one, ask))
    if (person === undefined) return false
    // Nobody of the engine waits for a question to be overdue; whoever it is then shown to does.
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
      // As it is by now: it may be overdue.
      const given = typeof answer === 'function' ? answer((await this.#inbox.get(ask.id)) ?? ask) : answer
      await this.#inbox.answer(ask.id, given, { as })
    } catch (error) {
      // Somebody was faster, or it was too late: such is life. A wrong answer is a fault of the test.
      const isTooLate = PawlError.is(error, 'ask-closed') || PawlError.is(error, 'engine-stopped')
      if (!isTooLate) this.#fault ??= { error, isReported: false }
    } finally {
      this.#answering--
    }
  }
}

function checkPerson(person: Person): void {
  const { ask, answer, after, as } = checkObject('person of a test', person)
  checkKeys('a person of a test', person, ['ask', 'answer', 'after', 'as'])
  if (typeof ask !== 'string' && typeof ask !== 'function' && !(ask instanceof RegExp))
    refuse('ask of a person', ask, 'It must be a part of the message, a pattern or a function of the ask.')
  if (answer !== 'silence' && typeof answer !== 'function' && (typeof answer !== 'object' || answer === null))
    refuse(
      'answer of a person',
      answer,
      "It must be an answer such as { approved: true }, a function of the ask, or 'silence'.",
    )
  if (after !== undefined) parseDuration(after, 'after of a person')
  if (as !== undefined) checkActor('as of a person', as)
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
