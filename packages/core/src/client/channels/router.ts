import { PawlError } from '../../errors/pawl-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { newestOfFeed, readFeed } from '../internal.ts'
import type { Client } from '../types.ts'
import type { Ask } from '../views/views.ts'
import type { Channel } from './channel.ts'
import { Following } from './following.ts'
import { askOfDelivery, askTag, deliveryId, placeTag, procedureOf } from './names.ts'
import type { NotifyProcedure } from './notify.ts'
import { findPlace } from './places.ts'
import { goesTo, isWithheld } from './routing.ts'

interface RouterOptions {
  readonly client: Client
  readonly channel: Channel
  readonly procedure: NotifyProcedure
  /** All channels of the engine. */
  readonly all: readonly Channel[]
  readonly logger: Logger
  readonly clock: Clock
}

/** Follows the feed for one channel: starts the delivery of each ask it takes, and tells it when the ask is closed. */
export class Router {
  readonly #options: RouterOptions
  readonly #following: Following

  constructor(options: RouterOptions) {
    this.#options = options
    const { channel, logger, clock } = options
    this.#following = new Following({ what: 'the asks', channel: channel.name, logger, clock })
  }

  start(): void {
    this.#following.start((signal, onProgress) => this.#follow(signal, onProgress))
  }

  stop(): Promise<void> {
    return this.#following.stop()
  }

  async #follow(signal: AbortSignal, onProgress: () => void): Promise<void> {
    const { client, channel } = this.#options
    const after = (await findPlace(client, procedureOf(channel.name))) ?? (await this.#catchUp())
    for await (const event of readFeed(client, { after, signal })) {
      if (event.event === 'reset') await this.#catchUp()
      if (event.event === 'ask.opened') await this.#deliver(event.ask, event.n)
      if (event.event === 'ask.closed') await this.#close(event.ask)
      onProgress()
    }
  }

  /** Looks at all open asks and all deliveries under way. Returns the number in the feed after which to continue. */
  async #catchUp(): Promise<number> {
    const { client, channel } = this.#options
    const newest = await newestOfFeed(client)
    // Without a place: if this is cut off, the next start looks at all of them again.
    for await (const ask of pagesOf((cursor) => client.inbox.list({ limit: 500, cursor })))
      await this.#deliverAsk(ask, undefined)
    const procedure = procedureOf(channel.name)
    const status = ['running', 'waiting'] as const
    for await (const { id } of pagesOf((cursor) => client.list({ procedure, status, limit: 500, cursor }))) {
      const ask = askOfDelivery(id, channel.name)
      if ((await client.inbox.get(ask))?.status !== 'open') await this.#close(ask)
    }
    return newest
  }

  async #deliver(id: string, place: number): Promise<void> {
    const ask = await this.#options.client.inbox.get(id)
    if (ask?.status === 'open') await this.#deliverAsk(ask, place)
  }

  async #deliverAsk(ask: Ask, place: number | undefined): Promise<void> {
    const { client, channel, procedure } = this.#options
    if (this.#following.isStopping || !this.#isTaken(ask)) return
    await client.runOrGet(procedure, undefined, {
      id: deliveryId(ask.id, channel.name),
      tags: [askTag(ask.id), ...(place === undefined ? [] : [placeTag(place)])],
    })
  }

  /** An ask about which `wants` throws is not delivered: a retry would hold back all later ones. */
  #isTaken(ask: Ask): boolean {
    const { channel, all, logger } = this.#options
    try {
      if (goesTo(channel, ask, all)) return true
      if (channel === all[0] && isWithheld(ask, all))
        logger.warn(
          `Ask ${ask.id} is critical and goes to the inbox only: no channel that takes it verifies identities.`,
        )
    } catch (error) {
      logger.error(`Channel ${channel.name} does not deliver ask ${ask.id}: \`wants\` threw.`, { error })
    }
    return false
  }

  async #close(ask: string): Promise<void> {
    const { client, channel, procedure } = this.#options
    try {
      await client.get(procedure, deliveryId(ask, channel.name)).signal('closed', true, { id: 'closed' })
    } catch (error) {
      // It was never delivered, or its delivery has ended.
      if (!PawlError.is(error, 'run-not-found') && !PawlError.is(error, 'run-ended')) throw error
    }
  }
}

/** Yields the items of all pages. */
async function* pagesOf<Item>(
  read: (
    cursor: string | undefined,
  ) => Promise<{ readonly items: readonly Item[]; readonly cursor: string | undefined }>,
): AsyncGenerator<Item, void, undefined> {
  for (let cursor: string | undefined; ; ) {
    const page = await read(cursor)
    yield* page.items
    if (page.cursor === undefined) return
    cursor = page.cursor
  }
}
