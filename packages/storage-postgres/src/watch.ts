import { randomUUID } from 'node:crypto'
import type { Client } from './connection/clients.ts'
import type { Database } from './connection/database.ts'
import { Statement } from './connection/fast-path/statement.ts'
import { greetingTimeoutMs, hintIntervalMs } from './connection/timeouts.ts'

/**
 * LISTEN and NOTIFY. A hint is sent after the commit it tells of and not in it: a transaction that notifies
 * holds a lock of the whole server until it is on disk. It may be lost; polling finds everything without it.
 */
export class Hints {
  readonly #database: Database
  readonly #isOn: boolean
  readonly #watchers = new Set<() => void>()
  readonly #notify = new Statement('select pg_notify($1, $2)')
  /** Tells our own hints from those of others. */
  readonly #self = randomUUID()
  #listening: Promise<void> | undefined
  #stop: (() => void) | undefined
  #isSending = false
  #isWanted = false

  constructor(database: Database, isOn: boolean) {
    this.#database = database
    this.#isOn = isOn
  }

  watch(onHint: () => void): () => void {
    // A function of its own: the same callback may watch twice.
    const watcher = () => onHint()
    this.#watchers.add(watcher)
    if (this.#isOn) this.#listening ??= this.#listen()
    return () => {
      this.#watchers.delete(watcher)
      if (this.#watchers.size === 0) this.#stop?.()
    }
  }

  /** Tells the other processes that something has changed. Returns at once and never fails. */
  send(): void {
    if (!this.#isOn) return
    this.#isWanted = true
    if (!this.#isSending) void this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    try {
      while (this.#isWanted) {
        this.#isWanted = false
        const { channel } = this.#database.names
        await this.#database.run(this.#notify, [channel, this.#self]).catch(() => {})
        await new Promise((resolve) => setTimeout(resolve, hintIntervalMs).unref())
      }
    } finally {
      this.#isSending = false
    }
  }

  /** Listens while there is anybody to tell, on a connection of its own, and connects again when it breaks. */
  async #listen(): Promise<void> {
    for (let failures = 0; this.#watchers.size > 0 && !this.#database.isClosed; failures++) {
      try {
        await this.#database.lend(async (client) => {
          await this.#listenOn(client)
          failures = 0
        })
      } catch {
        // Polling continues meanwhile.
      }
      if (this.#watchers.size > 0) await this.#database.pause(failures)
    }
    this.#listening = undefined
  }

  async #listenOn(client: Client): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#stop = resolve
      client.on('end', () => resolve())
      client.on('error', () => resolve())
    })
    client.on('notification', ({ payload }: { readonly payload?: string }) => {
      if (payload !== this.#self) this.#tell()
    })
    const listening = client.query({
      text: `listen "${this.#database.names.channel}"`,
      query_timeout: greetingTimeoutMs,
    })
    listening.catch(() => {})
    await Promise.race([listening, ended])
    client.unref?.()
    // Notifications sent before LISTEN took effect are not repeated.
    this.#tell()
    if (this.#watchers.size > 0) await ended
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher()
  }

  async close(): Promise<void> {
    this.#watchers.clear()
    this.#stop?.()
    await this.#listening
  }
}
