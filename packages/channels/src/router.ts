import { type Ask, type Client, type FeedEvent, PawlError, type PluginHost } from '@pawl/core'
import { deliveryProcedureOf, deliveryTag } from '@pawl/core/internal'
import type { Channel } from './channel.ts'
import { askOfDelivery, deliveryId, placeTag } from './names.ts'
import type { NotifyProcedure } from './notify.ts'
import { findPlace } from './places.ts'
import { goesTo, isWithheld } from './routing.ts'

interface RouterOptions {
  readonly client: Client
  readonly host: PluginHost
  readonly channel: Channel
  readonly procedure: NotifyProcedure
  /** All channels of the engine. */
  readonly all: readonly Channel[]
}

/** Follows the feed for one channel: starts the delivery of each ask it takes, and tells it when the ask is closed. */
export class Router {
  readonly #options: RouterOptions

  constructor(options: RouterOptions) {
    this.#options = options
  }

  start(): void {
    const { host, channel } = this.#options
    host.follow(`the asks for channel ${channel.name}`, (event) => this.#handle(event), {
      after: () => this.#findPlace(),
    })
  }

  async #findPlace(): Promise<number> {
    const { client, channel, host } = this.#options
    const place = await findPlace(client, deliveryProcedureOf(channel.name))
    if (place === undefined) await this.#catchUp()
    return place ?? host.from
  }

  async #handle(event: FeedEvent): Promise<void> {
    if (event.event === 'reset') await this.#catchUp()
    if (event.event === 'ask.opened') await this.#deliver(event.ask, event.n)
    if (event.event === 'ask.closed') await this.#close(event.ask)
  }

  /** Looks at all open asks and all deliveries under way. */
  async #catchUp(): Promise<void> {
    const { client, channel } = this.#options
    // Without a place: if this is cut off, the next start looks at all of them again.
    for await (const ask of pagesOf((cursor) => client.inbox.list({ limit: 500, cursor })))
      await this.#deliverAsk(ask, undefined)
    const procedure = deliveryProcedureOf(channel.name)
    const status = ['running', 'waiting'] as const
    for await (const { id } of pagesOf((cursor) => client.list({ procedure, status, limit: 500, cursor }))) {
      const ask = askOfDelivery(id, channel.name)
      if ((await client.inbox.get(ask))?.status !== 'open') await this.#close(ask)
    }
  }

  async #deliver(id: string, place: number): Promise<void> {
    const ask = await this.#options.client.inbox.get(id)
    if (ask?.status === 'open') await this.#deliverAsk(ask, place)
  }

  async #deliverAsk(ask: Ask, place: number | undefined): Promise<void> {
    const { client, host, channel, procedure } = this.#options
    if (host.signal.aborted || !this.#isTaken(ask)) return
    await client.runOrGet(procedure, undefined, {
      id: deliveryId(ask.id, channel.name),
      tags: [deliveryTag(ask.id), ...(place === undefined ? [] : [placeTag(place)])],
    })
  }

  /** An ask about which `wants` throws is not delivered: a retry would hold back all later ones. */
  #isTaken(ask: Ask): boolean {
    const { channel, all, host } = this.#options
    try {
      if (goesTo(channel, ask, all)) return true
      if (channel === all[0] && isWithheld(ask, all))
        host.logger.warn(
          `Ask ${ask.id} is critical and goes to the inbox only: no channel that takes it verifies identities.`,
        )
    } catch (error) {
      host.logger.error(`Channel ${channel.name} does not deliver ask ${ask.id}: \`wants\` threw.`, { error })
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
