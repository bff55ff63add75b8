import type { Message } from '../../ports/store/mail.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import type { WorkerServices } from '../services.ts'
import { passOn } from './log-reader.ts'

/** What a message is about: who waits for it waits for this. */
export function topicOf(kind: Message['kind'], name: string): string {
  return `${kind} ${name}`
}

/** Whether it is about answers that came before their question. */
export function isEarly(topic: string): boolean {
  return topic.startsWith('early ')
}

/** Returns the position of the ask that a message about this topic answers; null if it is no answer to an ask. */
export function positionAnswered(topic: string): number | null {
  return topic.startsWith('answer ') ? Number(topic.slice('answer '.length)) : null
}

/** Who is told how a reading went that it did not begin itself. */
export interface Reader {
  /** The mailbox is up to date. */
  onRead(): void
  /** A message was put into the mailbox for the first time. */
  onNew?(message: Message): void
  /** A {@link ReadFailed}: the worker's next poll says once more that there are messages. Or a message cannot be understood. */
  onUnread(error: unknown): void
}

/**
 * The messages of one run: left in this process, or read from the store as its mail counter grows, then held
 * until an operation takes them and the log has them.
 */
export class Mailbox {
  readonly #store: WorkerServices['store']
  readonly #run: RunKey
  readonly #reader: Reader
  /** The mail counter as the store last told it, and up to where the messages have been read. */
  #counter: number
  #seen = 0
  /** Messages nobody has taken, by topic, oldest first. */
  readonly #waiting = new Map<string, Message[]>()
  /** Taken by an operation, but not yet in the log. */
  #taken: Message[] = []
  #isReading = false
  #reading: Promise<void> = Promise.resolve()

  constructor(store: WorkerServices['store'], run: RunKey, counter: number, reader: Reader) {
    this.#store = store
    this.#run = run
    this.#counter = counter
    this.#reader = reader
  }

  /** The counter up to which everything has been read. */
  get seen(): number {
    return this.#seen
  }
  /** There are messages that have not been read: nothing may be decided. */
  get isBehind(): boolean {
    return this.#seen < this.#counter
  }
  get isReading(): boolean {
    return this.#isReading
  }
  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }
  /** Bytes of payload of the messages nobody has taken. */
  get weight(): number {
    let bytes = 0
    for (const messages of this.#waiting.values())
      for (const { payload } of messages) bytes += payload?.length ?? 0
    return bytes
  }
  /** The names of signals nobody has taken, in the order they were sent. */
  get signals(): readonly string[] {
    return this.#namesOf('signal')
  }
  /** The keys by which somebody has answered, and nobody has asked. */
  get earlyKeys(): readonly string[] {
    return this.#namesOf('early')
  }

  #namesOf(kind: Message['kind']): readonly string[] {
    const messages = [...this.#waiting.values()].flat().filter((message) => message.kind === kind)
    return messages.sort((a, b) => a.n - b.n).map(({ name }) => name)
  }

  /** The message the run was claimed with. If it is the only one there ever was, nothing need be read. */
  begin(message: Message): void {
    if (message.n !== 1 || this.#counter !== 1) return
    this.#putNew(message)
    this.#seen = 1
  }

  /** There are messages up to this number. */
  learn(counter: number): void {
    this.#counter = Math.max(this.#counter, counter)
    if (this.isBehind && !this.#isReading) this.#readAll()
  }

  /** A message that was left in this process. If it is known to be the next one, nothing need be read. */
  receive(message: Message): void {
    // While it is behind, what it has not seen may be used up: by the log that is being replayed.
    if (this.#isReading || this.isBehind || message.n !== this.#seen + 1) return this.learn(message.n)
    this.#putNew(message)
    this.#seen = message.n
    this.#counter = message.n
  }

  /** Reads what is there. Once at a time: what two readings found would be there twice. */
  read(): Promise<void> {
    if (!this.#isReading) {
      this.#isReading = true
      this.#reading = this.#readOn()
    }
    return this.#reading
  }

  async #readOn(): Promise<void> {
    try {
      while (this.isBehind) {
        const upTo = this.#counter
        const messages = await this.#store.mail(this.#run, this.#seen).catch(passOn)
        for (const message of messages) this.#putNew(message)
        this.#seen = Math.max(upTo, messages.at(-1)?.n ?? 0)
        this.#counter = Math.max(this.#counter, this.#seen)
      }
    } finally {
      // Not a moment later: who learns of more from now on has to read again.
      this.#isReading = false
    }
  }

  /** Topics of the messages that no operation has taken. */
  get topics(): Iterable<string> {
    return this.#waiting.keys()
  }

  /** The oldest message about any of these; it stays. */
  oldest(topics: readonly string[]): Message | undefined {
    let oldest: Message | undefined
    for (const topic of topics) {
      const message = this.#waiting.get(topic)?.[0]
      if (message !== undefined && (oldest === undefined || message.n < oldest.n)) oldest = message
    }
    return oldest
  }

  /** An operation takes the oldest message about any of these. */
  take(topics: readonly string[]): Message | undefined {
    const message = this.oldest(topics)
    if (message === undefined) return undefined
    const topic = topicOf(message.kind, message.name)
    const messages = this.#waiting.get(topic) as Message[]
    messages.shift()
    if (messages.length === 0) this.#waiting.delete(topic)
    this.#taken.push(message)
    return message
  }

  /** What was to be recorded of it was not: somebody may take it again. */
  giveBack(n: number): void {
    const message = this.#taken.find((one) => one.n === n)
    if (message === undefined) return
    this.forget([n])
    this.#put(message)
  }

  /** The log has them. */
  forget(numbers: readonly number[]): void {
    if (numbers.length === 0) return
    const forgotten = new Set(numbers)
    this.#taken = this.#taken.filter(({ n }) => !forgotten.has(n))
  }

  #putNew(message: Message): void {
    this.#put(message)
    this.#reader.onNew?.(message)
  }

  #put(message: Message): void {
    const topic = topicOf(message.kind, message.name)
    const messages = this.#waiting.get(topic)
    if (messages === undefined) this.#waiting.set(topic, [message])
    else if ((messages.at(-1) as Message).n < message.n) messages.push(message)
    else
      this.#waiting.set(
        topic,
        [...messages, message].sort((a, b) => a.n - b.n),
      )
  }

  #readAll(): void {
    this.read().then(
      () => this.#reader.onRead(),
      (error) => this.#reader.onUnread(error),
    )
  }
}
