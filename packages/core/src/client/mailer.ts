import type { Answered, Claimed, Message, NewAnswer, NewMessage, RunKey, Sent } from '../ports/store.ts'
import { Batch } from './batch.ts'
import type { Connection } from './connection.ts'

/** Leaves messages for runs and answers for asks, many in one transaction, and tells the worker of this process. */
export class Mailer {
  readonly #connection: Connection
  readonly #messages: Batch<NewMessage, Sent>
  readonly #answers: Batch<NewAnswer, Answered>

  constructor(connection: Connection) {
    this.#connection = connection
    this.#messages = new Batch((messages) => this.#send(messages))
    this.#answers = new Batch((answers) => this.#answer(answers))
  }

  send(message: NewMessage): Promise<Sent> {
    return this.#messages.add(message)
  }

  answer(answer: NewAnswer): Promise<Answered> {
    return this.#answers.add(answer)
  }

  async #send(messages: readonly NewMessage[]): Promise<readonly Sent[]> {
    const store = await this.#connection.store()
    const outcomes = await store.send(messages, this.#connection.home?.claimant() ?? null)
    // Also for what was there before the run may have been claimed: it was due.
    for (const sent of outcomes)
      if (sent.outcome === 'stored' || (sent.outcome === 'duplicate' && sent.claimed !== null))
        this.#tell(sent)
    return outcomes
  }

  async #answer(answers: readonly NewAnswer[]): Promise<readonly Answered[]> {
    const store = await this.#connection.store()
    const outcomes = await store.answer(answers, this.#connection.home?.claimant() ?? null)
    for (const answered of outcomes) if (answered.outcome === 'answered') this.#tell(answered)
    return outcomes
  }

  #tell({ run, claimed, message }: Delivered): void {
    const { home } = this.#connection
    if (claimed === null) home?.onMail(run, message)
    else home?.onClaimed(claimed, message)
  }
}

interface Delivered {
  readonly run: RunKey
  readonly claimed: Claimed | null
  readonly message: Message | null
}
