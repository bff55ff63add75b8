/**
 * Tells those who wait in this process that something may have changed, so that they look. It carries no
 * news itself: the store is the only truth.
 */
export class Notifier {
  readonly #listeners = new Map<string, Set<() => void>>()

  /** Calls back whenever the topic rings. Returns how to stop listening. */
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

  /** For what came from another process and says nothing of itself. */
  notifyAll(): void {
    for (const topic of [...this.#listeners.keys()]) this.notify(topic)
  }
}

/** Topics of the notifier of an engine. */
export const topics = {
  /** The run ended, got stuck, or was quarantined. */
  end: (run: string): string => `end ${run}`,
  /** An ask was opened, by any run or by this one. */
  asks: 'asks',
  asksOf: (run: string): string => `asks of ${run}`,
} as const
