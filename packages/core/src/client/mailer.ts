import type {
  Answered,
  Claimant,
  Claimed,
  Message,
  NewAnswer,
  NewMessage,
  RunKey,
  Sent,
} from '../ports/store.ts'
import { Batch } from './batch.ts'
import type { Connection } from './connection.ts'

/** Leaves messages for runs and answers for asks, many in one transaction, and tells the worker of this process. */
export class Mailer {
  readonly #connection: Connection
  readonly #messages: Batch<NewMessage, Sent, Claimant | null>
  readonly #answers: Batch<NewAnswer, Answered, Claimant | null>

  constructor(connection: Connection) {
    this.#connection = connection
    const begin = () => connection.claimant()
    this.#messages = new Batch({
      begin,
      write: (messages: readonly NewMessage[], claimant) => this.#send(messages, claimant),
      sizeOf,
    })
    this.#answers = new Batch({
      begin,
      write: (answers: readonly NewAnswer[], claimant) => this.#answer(answers, claimant),
      sizeOf,
    })
  }

  send(message: NewMessage): Promise<Sent> {
    return this.#messages.add(message)
  }

  answer(answer: NewAnswer): Promise<Answered> {
    return this.#answers.add(answer)
  }

  async #send(messages: readonly NewMessage[], claimant: Claimant | null): Promise<readonly Sent[]> {
    const store = await this.#connection.store()
    const outcomes = await store.send(messages, claimant)
    // Also for what was there before the run may have been claimed: it was due.
    for (const sent of outcomes)
      if (sent.outcome === 'stored' || (sent.outcome === 'duplicate' && sent.claimed !== null))
        this.#tell(sent)
    return outcomes
  }

  async #answer(answers: readonly NewAnswer[], claimant: Claimant | null): Promise<readonly Answered[]> {
    const store = await this.#connection.store()
    const outcomes = await store.answer(answers, claimant)
    for (const answered of outcomes) if (answered.outcome === 'answered') this.#tell(answered)
    return outcomes
  }

  #tell({ run, claimed, message }: Delivered): void {
    const { home } = this.#connection
    if (claimed === null) home?.onMail(run, message)
    else home?.onClaimed(claimed, message)
  }
}

function sizeOf({ payload }: NewMessage | NewAnswer): number {
  return payload?.length ?? 0
}

interface Delivered {
  readonly run: RunKey
  readonly claimed: Claimed | null
  readonly message: Message | null
}
