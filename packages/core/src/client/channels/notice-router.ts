import { isBuiltIn } from '../../base/built-in.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { readFeed } from '../internal.ts'
import type { Client } from '../types.ts'
import type { Notice } from '../views/views.ts'
import type { NoticeDelivery } from './channel.ts'
import { Following } from './following.ts'
import { noticeDeliveryId, noticeTag, placeTag } from './names.ts'
import type { NoticeProcedure } from './notices.ts'
import { findPlace } from './places.ts'

interface NoticeRouterOptions {
  readonly client: Client
  /** Name of the channel. */
  readonly channel: string
  readonly notices: NoticeDelivery
  readonly procedure: NoticeProcedure
  /** Number of the event of the feed after which a channel begins that is new to the store. */
  readonly from: number
  readonly logger: Logger
  readonly clock: Clock
}

/** No notice has it: its delivery tells nothing, and says where in the feed the channel has begun. */
export const firstId = '0'

/**
 * Follows the feed for one channel and starts the delivery of each notice it takes. A new channel begins with what is told from
 * then on; one that was away continues where it was.
 */
export class NoticeRouter {
  readonly #options: NoticeRouterOptions
  readonly #following: Following

  constructor(options: NoticeRouterOptions) {
    this.#options = options
    this.#following = new Following({ ...options, what: 'the notices' })
  }

  start(): void {
    this.#following.start((signal, onProgress) => this.#follow(signal, onProgress))
  }

  stop(): Promise<void> {
    return this.#following.stop()
  }

  async #follow(signal: AbortSignal, onProgress: () => void): Promise<void> {
    const { client, procedure } = this.#options
    const after = (await findPlace(client, procedure.name)) ?? (await this.#begin())
    for await (const event of readFeed(client, { after, signal, onReset: 'oldest' })) {
      if (event.event === 'notice') await this.#tell(event.notice, event.n)
      onProgress()
    }
  }

  async #begin(): Promise<number> {
    const { from } = this.#options
    await this.#start(firstId, from)
    return from
  }

  async #tell(id: string, place: number): Promise<void> {
    const [notice] = (await this.#options.client.inbox.notices({ id })).items
    if (notice !== undefined && this.#isTaken(notice)) await this.#start(id, place)
  }

  /** One delivery for each notice: what is started twice exists once. */
  async #start(id: string, place: number): Promise<void> {
    const { client, channel, procedure } = this.#options
    if (this.#following.isStopping) return
    await client.runOrGet(procedure, undefined, {
      id: noticeDeliveryId(id, channel),
      tags: [noticeTag(id), placeTag(place)],
    })
  }

  /** A notice about which `wants` throws is not delivered: a retry would hold back all later ones. */
  #isTaken(notice: Notice): boolean {
    const { channel, notices, logger } = this.#options
    if (isBuiltIn(notice.procedure)) return false
    try {
      return notices.wants?.(notice) ?? true
    } catch (error) {
      logger.error(`Channel ${channel} does not deliver notice ${notice.id}: \`wants\` threw.`, { error })
      return false
    }
  }
}
