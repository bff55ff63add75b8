/**
 * Tells listeners in this process that something may have changed.
 * Notifications carry no data: listeners read the store.
 */
export class Notifier {
  readonly #listeners = new Map<string, Set<() => void>>()

  /** Calls back on every notification of the topic. Returns a function that stops listening. */
  listen(topic: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners)
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic)
    }
  }

  notify(topic: string): void {
    for (const listener of [...(this.#listeners.get(topic) ?? [])]) listener()
  }

  /** Notifies every topic: changes made by other processes do not say what changed. */
  notifyAll(): void {
    for (const topic of [...this.#listeners.keys()]) this.notify(topic)
  }
}

/** Topics of an engine's notifier. */
export const topics = {
  /** The run ended, became stuck, or was quarantined. */
  end: (run: string): string => `end ${run}`,
  /** An ask was opened, in any run (`asks`) or in one run (`asksOf`). */
  asks: 'asks',
  /** Something happened that the feed tells of. */
  feed: 'feed',
  /** A run has replied to an update, or exposed a value. */
  talkOf: (run: string): string => `talk of ${run}`,
  asksOf: (run: string): string => `asks of ${run}`,
} as const
