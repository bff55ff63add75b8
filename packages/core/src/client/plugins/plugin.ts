import type { Procedure } from '../../authoring/procedure.ts'
import type { Refused } from '../../base/refused.ts'
import type { Logger } from '../../ports/logger.ts'
import type { AnsweredBy, ResumeResolution } from '../answering.ts'
import type { FeedEvent } from '../feed.ts'
import type { Client } from '../types.ts'
import type { Ask } from '../views/views.ts'

/**
 * Adds work of its own to an engine: procedures that the engine executes, and what happens in the process while it does. Channels and
 * webhooks are plug-ins.
 * @example
 * const log: Plugin = {
 *   name: 'log',
 *   start: (_client, host) => void host.follow('the feed', ({ event, n }) => host.logger.info(`${n} ${event}`)),
 * }
 * const engine = await createEngine({ store, procedures: [refund], plugins: [log] })
 */
export interface Plugin {
  /** Name of the plug-in, for errors and the log. Range: 1 to 40 characters of `a-z`, `0-9` and `-`; unique in an engine. */
  readonly name: string
  /**
   * Procedures that the engine executes besides its own. A name that begins with `pawl.` makes a procedure built in: over HTTP only the role
   * `admin` sees and controls its runs, and only they may have ids that begin with `pawl.`. Default: none. Range: no name of another
   * plug-in or of the option `procedures`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: procedures of any types
  readonly procedures?: readonly Procedure<any, any, any>[]
  /**
   * Called when the engine starts, before it executes any run. `createEngine` waits for it, and rejects with what it throws. Plug-ins start
   * in their order. They are stopped in the reverse order, while the engine still works: following ends, and what `start` has returned is
   * called. A plug-in has 1 s for that. Default: the plug-in has only procedures.
   */
  start?(client: Client, host: PluginHost): StopPlugin | void | Promise<StopPlugin | void>
}

/** Ends what a plug-in has started. */
export type StopPlugin = () => void | Promise<void>

/** What an engine offers to a plug-in besides its client. */
export interface PluginHost {
  /**
   * Calls `handle` for each event of the feed, one after the other and at least once, until the plug-in is stopped. If `handle` throws, a
   * warning is logged, and it gets the same event again, after 1 s, then after growing pauses of up to 30 s. Every engine with the
   * plug-in follows the feed: start runs with an id that follows from the event, with `client.runOrGet`, and each exists once.
   * `what` says what is followed, for the log. Returns a function that ends it sooner: no further event is handled, and it resolves once
   * `handle` has ended. Within `handle` it resolves at once.
   * @example
   * host.follow('notices', async (event) => {
   *   if (event.event === 'notice') await client.runOrGet(page, event.notice, { id: `pawl.page:${event.n}` })
   * })
   */
  follow(
    what: string,
    handle: (event: FeedEvent) => void | Promise<void>,
    options?: FollowFeedOptions,
  ): () => Promise<void>
  /**
   * Answers an ask as a person, under the rules of every door: the ask must be addressed to the one who acts, and neither `selfApproval` nor
   * a server of this engine may forbid it. `selfApproval: false` holds for each of `as`, `actedBy` and `madeBy`. The ask is judged as it is
   * stored; of `ask` only the id counts. The plug-in must have authenticated who acts.
   * @throws PawlError 'answer-forbidden', and what `client.resume` throws
   */
  answer(ask: Ask, answer: ResumeResolution, by: AnsweredBy): Promise<void>
  /** Number of the newest event in the feed when the engine started, before it executes any run. */
  readonly from: number
  /** The logger of the engine. */
  readonly logger: Logger
  /** Aborts when the plug-in is stopped. */
  readonly signal: AbortSignal
}

/** The options of `follow`. */
export interface FollowFeedOptions {
  /**
   * Returns the number of the last event that was handled, by any process. It is called once, and again while it throws. If it returns
   * undefined, following begins at the default. Default: `host.from`. Range: a whole number from 0; any other is logged as if it had thrown.
   */
  readonly after?: () => number | undefined | Promise<number | undefined>
  /** Where to continue if events were deleted unread: at the oldest that is left, or after the newest. Default: 'newest'. */
  readonly onReset?: 'oldest' | 'newest'
}

/** What could be mistaken for a plug-in. The compiler shows the sentence. */
interface NoPlugin {
  readonly deliver?: Refused<'A channel is not a plug-in: pass channels([…]) of @pawl/channels.'>
  readonly schemas?: Refused<'A procedure is not a plug-in: pass it in the option procedures.'>
  readonly apply?: Refused<'A function is not a plug-in: call it, and pass what it returns.'>
}

/** A plug-in, as an engine takes it. */
export type PluginOption = Plugin & NoPlugin
