import { formatDuration } from '../base/duration.ts'
import { PawlError } from '../errors/pawl-error.ts'
import type { Answered, NewAnswer } from '../ports/store/asks.ts'
import type { Claimant, Claimed } from '../ports/store/claims.ts'
import type { Message, NewMessage, Sent } from '../ports/store/mail.ts'
import type { RunKey } from '../ports/store/runs.ts'
import type { StorePort } from '../ports/store/store.ts'
import { Batch } from './batch.ts'
import type { Connection } from './connection.ts'
import { DeclaredSignals, findUndeclared, type Outgoing, type Undeclared } from './runs/undeclared.ts'

/** What a run has done with a message. */
type Taken = Exclude<Sent, { readonly outcome: 'held' }>

/** How long a message is sent again to a run that holds messages back, and how often. */
const maxHeldMs = 10_000
const heldFirstMs = 25
const heldMostMs = 400

/** Sends messages and answers, many in one transaction. Notifies the worker of this process. */
export class Mailer {
  readonly #connection: Connection
  readonly #messages: Batch<Outgoing, Sent | Undeclared, Claimant | null>
  readonly #answers: Batch<NewAnswer, Answered, Claimant | null>
  readonly #declared = new DeclaredSignals()

  constructor(connection: Connection) {
    this.#connection = connection
    const begin = () => connection.claimant()
    this.#messages = new Batch({
      begin,
      write: (messages: readonly Outgoing[], claimant) => this.#send(messages, claimant),
      sizeOf: ({ message }) => sizeOf(message),
    })
    this.#answers = new Batch({
      begin,
      write: (answers: readonly NewAnswer[], claimant) => this.#answer(answers, claimant),
      sizeOf,
    })
  }

  /** Sends a message. An unchecked signal is not stored if its procedure is known not to declare it. */
  send(message: NewMessage, isUnchecked: boolean): Promise<Taken | Undeclared>
  send(message: NewMessage): Promise<Taken>
  send(message: NewMessage, isUnchecked = false): Promise<Taken | Undeclared> {
    const outgoing = { message, isUnchecked }
    return this.#messages
      .add(outgoing)
      .then((sent) => (sent.outcome === 'held' ? this.#sendHeld(outgoing) : sent))
  }

  /** Sends a message again until its run takes it, or has ended. @throws PawlError 'run-busy' */
  async #sendHeld(outgoing: Outgoing): Promise<Taken | Undeclared> {
    const { clock } = this.#connection
    const until = clock.elapsed() + maxHeldMs
    for (let waitMs = heldFirstMs; ; waitMs = Math.min(heldMostMs, 2 * waitMs)) {
      await new Promise<void>((resolve) => clock.after(waitMs, resolve))
      const sent = await this.#messages.add(outgoing)
      if (sent.outcome !== 'held') return sent
      if (clock.elapsed() >= until)
        throw new PawlError('run-busy', { run: outgoing.message.run, after: formatDuration(maxHeldMs) })
    }
  }

  answer(answer: NewAnswer): Promise<Answered> {
    return this.#answers.add(answer)
  }

  async #send(
    outgoing: readonly Outgoing[],
    claimant: Claimant | null,
  ): Promise<readonly (Sent | Undeclared)[]> {
    const store = await this.#connection.store()
    const { localWorker } = this.#connection
    if (outgoing.every(({ isUnchecked }) => !isUnchecked))
      return this.#store(
        store,
        outgoing.map(({ message }) => message),
        claimant,
      )
    const undeclared = await findUndeclared(outgoing, { store, localWorker, declared: this.#declared })
    const messages = outgoing.filter((one) => !undeclared.has(one)).map(({ message }) => message)
    const sent = messages.length === 0 ? [] : await this.#store(store, messages, claimant)
    let next = 0
    return outgoing.map((one) => undeclared.get(one) ?? (sent[next++] as Sent))
  }

  async #store(
    store: StorePort,
    messages: readonly NewMessage[],
    claimant: Claimant | null,
  ): Promise<readonly Sent[]> {
    const sent = await store.mail.send(messages, claimant)
    // Also for a duplicate: the run was due, and may have been claimed.
    for (const one of sent)
      if (one.outcome === 'stored' || (one.outcome === 'duplicate' && one.claimed !== null))
        this.#tell(one, claimant)
    return sent
  }

  async #answer(answers: readonly NewAnswer[], claimant: Claimant | null): Promise<readonly Answered[]> {
    const store = await this.#connection.store()
    const outcomes = await store.asks.answer(answers, claimant)
    for (const answered of outcomes) if (answered.outcome === 'answered') this.#tell(answered, claimant)
    return outcomes
  }

  #tell({ run, claimed, message }: Delivered, claimant: Claimant | null): void {
    const { localWorker } = this.#connection
    if (claimed === null || claimant === null) localWorker?.onMail(run, message)
    else localWorker?.onClaimed(claimed, message, claimant.worker)
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
