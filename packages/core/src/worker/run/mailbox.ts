import type { Message } from '../../ports/store/mail.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import { topicOf } from '../../runs/topics.ts'
import type { WorkerServices } from '../services.ts'
import { passOn } from './log-reader.ts'

/** Callbacks for reads that the mailbox starts on its own. */
export interface Reader {
  /** Called when the mailbox is up to date. */
  onRead(): void
  /** Called when a new message was added. */
  onNew?(message: Message): void
  /** Called with a {@link ReadFailed}, after which the worker's next poll retries, or if a message is unreadable. */
  onUnread(error: unknown): void
}

/**
 * The messages of one run, received in this process or read from the store when its mail counter grows. A message is held
 * until an operation has taken it and the log contains it.
 */
export class Mailbox {
  readonly #store: WorkerServices['store']
  readonly #run: RunKey
  readonly #reader: Reader
  /** The last known mail counter, and the number up to which messages have been read. */
  #counter: number
  #seen = 0
  /** Pending messages by topic, oldest first. */
  readonly #waiting = new Map<string, Message[]>()
  /** Messages taken by an operation, but not yet in the log. */
  #taken: Message[] = []
  #isReading = false
  /** Null if none has begun. */
  #reading: Promise<void> | null = null

  constructor(store: WorkerServices['store'], run: RunKey, counter: number, reader: Reader) {
    this.#store = store
    this.#run = run
    this.#counter = counter
    this.#reader = reader
  }

  /** The number up to which all messages have been read. */
  get seen(): number {
    return this.#seen
  }
  /** Whether there are unread messages, so that nothing may be decided. */
  get isBehind(): boolean {
    return this.#seen < this.#counter
  }
  get isReading(): boolean {
    return this.#isReading
  }
  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }
  /** Bytes of payload of the pending messages. */
  get weight(): number {
    let bytes = 0
    for (const messages of this.#waiting.values())
      for (const { payload } of messages) bytes += payload?.length ?? 0
    return bytes
  }
  /** The names of the pending signals, in the order they were sent. */
  get signals(): readonly string[] {
    return this.#namesOf('signal')
  }
  /** The keys of early answers whose ask was never opened. */
  get earlyKeys(): readonly string[] {
    return this.#namesOf('early')
  }

  /** The numbers of the updates that are not answered, taken or not. */
  get updates(): readonly number[] {
    if (this.isEmpty && this.#taken.length === 0) return noNumbers
    const messages = [...[...this.#waiting.values()].flat(), ...this.#taken]
    return messages.flatMap(({ kind, n }) => (kind === 'update' ? n : []))
  }
  /** The names of the pending updates. */
  get updateNames(): readonly string[] {
    return [...this.topics].flatMap((topic) =>
      topic.startsWith('update ') ? topic.slice('update '.length) : [],
    )
  }

  #namesOf(kind: Message['kind']): readonly string[] {
    if (this.isEmpty) return noNames
    const messages = [...this.#waiting.values()].flat().filter((message) => message.kind === kind)
    return messages.sort((a, b) => a.n - b.n).map(({ name }) => name)
  }

  /** Adds the message the run was claimed with. If there was never another one, nothing needs to be read. */
  begin(message: Message): void {
    if (message.n !== 1 || this.#counter !== 1) return
    this.#putNew(message)
    this.#seen = 1
  }

  /** Takes over the messages that an earlier generation has not used: all there are. */
  takeOver(messages: readonly Message[]): void {
    for (const message of messages) this.#put(message)
    this.#seen = this.#counter
  }

  /** The messages that the log has not got, in the order they were sent. */
  get unread(): readonly Message[] {
    return [...this.#waiting.values(), this.#taken].flat().sort((a, b) => a.n - b.n)
  }

  /** Records that there are messages up to this number. */
  learn(counter: number): void {
    this.#counter = Math.max(this.#counter, counter)
    if (this.isBehind && !this.#isReading) this.#readAll()
  }

  /** Adds a message sent in this process. If it is known to be the next one, nothing needs to be read. */
  receive(message: Message): void {
    // If it is behind, the log being replayed may have used the unseen messages.
    if (this.#isReading || this.isBehind || message.n !== this.#seen + 1) return this.learn(message.n)
    this.#putNew(message)
    this.#seen = message.n
    this.#counter = message.n
  }

  /** Reads new messages, one read at a time: two concurrent reads would add a message twice. */
  read(): Promise<void> {
    if (this.#isReading && this.#reading !== null) return this.#reading
    this.#isReading = true
    this.#reading = this.#readOn()
    return this.#reading
  }

  async #readOn(): Promise<void> {
    try {
      while (this.isBehind) {
        const upTo = this.#counter
        const messages = await this.#store.mail.list(this.#run, this.#seen).catch(passOn)
        for (const message of messages) this.#putNew(message)
        this.#seen = Math.max(upTo, messages.at(-1)?.n ?? 0)
        this.#counter = Math.max(this.#counter, this.#seen)
      }
    } finally {
      // Synchronously: a caller that learns of more messages from now on has to read again.
      this.#isReading = false
    }
  }

  /** The topics of the pending messages. */
  get topics(): Iterable<string> {
    return this.#waiting.keys()
  }

  /** Returns the oldest message of these topics without taking it. */
  oldest(topics: readonly string[]): Message | undefined {
    let oldest: Message | undefined
    for (const topic of topics) {
      const message = this.#waiting.get(topic)?.[0]
      if (message !== undefined && (oldest === undefined || message.n < oldest.n)) oldest = message
    }
    return oldest
  }

  /** The pending messages of a topic, oldest first. */
  all(topic: string): readonly Message[] {
    return this.#waiting.get(topic) ?? []
  }

  /** Takes the oldest message of these topics. */
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

  /** The numbers of the messages that operations have taken and the log has not got yet. */
  get taken(): readonly number[] {
    return this.#taken.map(({ n }) => n)
  }

  /** Makes a taken message pending again, since it was not recorded. */
  giveBack(n: number): void {
    const message = this.#taken.find((one) => one.n === n)
    if (message === undefined) return
    this.forget([n])
    this.#put(message)
  }

  /** Forgets messages that are in the log. */
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

const noNumbers: readonly number[] = []
const noNames: readonly string[] = []
