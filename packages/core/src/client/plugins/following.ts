import { checkWhole } from '../../checks/options.ts'
import { Calls } from '../../host/calls.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { FeedEvent } from '../feed.ts'
import { readFeed } from '../internal.ts'
import type { Client } from '../types.ts'
import type { FollowFeedOptions } from './plugin.ts'

interface FollowingOptions extends FollowFeedOptions {
  readonly client: Client
  /** Begins a sentence of the log, such as 'Plug-in channels cannot follow the asks of desk.' */
  readonly warning: string
  readonly handle: (event: FeedEvent) => void | Promise<void>
  /** The number of the event to begin after if `after` says none. */
  readonly from: number
  /** Ends it, as `stop` does. */
  readonly signal: AbortSignal
  readonly logger: Logger
  readonly clock: Clock
}

const firstPauseMs = 1_000
const maxPauseMs = 30_000

/** Follows the feed for a plug-in until it is stopped, and resumes after a failure. */
export class Following {
  readonly #options: FollowingOptions
  readonly #own = new AbortController()
  readonly #stopping: AbortSignal
  readonly #calls = new Calls()
  /** Resolves once it is stopped and nothing is being handled. */
  readonly ended: Promise<void>
  /** Number of the last event that was handled; null: `after` has not yet said where to begin. */
  #seen: number | null = null
  #pauseMs = firstPauseMs

  constructor(options: FollowingOptions) {
    this.#options = options
    this.#stopping = AbortSignal.any([options.signal, this.#own.signal])
    this.ended = this.#insist()
  }

  /** Stops it. Within a handler this does not wait: the handler would wait for itself. */
  async stop(): Promise<void> {
    this.#own.abort()
    if (!this.#calls.isInside) await this.ended
  }

  async #insist(): Promise<void> {
    const { warning, logger } = this.#options
    while (!this.#isStopping)
      try {
        await this.#follow()
      } catch (error) {
        if (this.#isStopping) return
        logger.warn(`${warning} Retrying in ${this.#pauseMs} ms.`, { error })
        await this.#pause(this.#pauseMs)
        this.#pauseMs = Math.min(this.#pauseMs * 2, maxPauseMs)
      }
  }

  get #isStopping(): boolean {
    return this.#stopping.aborted
  }

  async #follow(): Promise<void> {
    const { client, handle, after, onReset = 'newest', from } = this.#options
    this.#seen ??= checkPlace(await this.#calls.run(() => after?.())) ?? from
    const place = { after: this.#seen, signal: this.#stopping, onReset }
    for await (const event of readFeed(client, place)) {
      await this.#calls.run(() => handle(event))
      this.#seen = event.n
      this.#pauseMs = firstPauseMs
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        callOff()
        this.#stopping.removeEventListener('abort', end)
        resolve()
      }
      const callOff = this.#options.clock.after(ms, end, true)
      this.#stopping.addEventListener('abort', end)
    })
  }
}

/** @throws PawlError 'option-invalid' */
function checkPlace(given: unknown): number | undefined {
  if (given === undefined) return undefined
  return checkWhole('result of after of follow', given, 0, Number.MAX_SAFE_INTEGER)
}
