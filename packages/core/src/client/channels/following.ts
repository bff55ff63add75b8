import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'

interface FollowingOptions {
  /** What is followed, for the log, such as 'the asks'. */
  readonly what: string
  readonly channel: string
  readonly logger: Logger
  readonly clock: Clock
}

/** Follows the feed until the signal aborts. `onProgress` says that it goes well. */
type Follow = (signal: AbortSignal, onProgress: () => void) => Promise<void>

const firstPauseMs = 1_000
const longestPauseMs = 30_000

/** Follows the feed for a channel until it is stopped, and begins again after a failure. */
export class Following {
  readonly #options: FollowingOptions
  readonly #stopping = new AbortController()
  #ended: Promise<void> = Promise.resolve()

  constructor(options: FollowingOptions) {
    this.#options = options
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  start(follow: Follow): void {
    this.#ended = this.#insist(follow)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#ended
  }

  async #insist(follow: Follow): Promise<void> {
    const { what, channel, logger } = this.#options
    for (let pauseMs = firstPauseMs; !this.isStopping; pauseMs = Math.min(pauseMs * 2, longestPauseMs))
      try {
        await follow(this.#stopping.signal, () => {
          pauseMs = firstPauseMs
        })
      } catch (error) {
        if (this.isStopping) return
        logger.warn(`Channel ${channel} cannot follow ${what}. Retrying in ${pauseMs} ms.`, { error })
        await this.#pause(pauseMs)
      }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = this.#options.clock.after(ms, resolve, true)
      this.#stopping.signal.addEventListener('abort', () => {
        callOff()
        resolve()
      })
    })
  }
}
