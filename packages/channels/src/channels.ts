import type { Ask, Client, LinkOptions, Notice, Plugin, PluginHost, StopPlugin } from '@pawl/core'
import { linkEnd, linkSigner, refuse } from '@pawl/core/internal'
import type { Channel, ChannelsOptions, DeliverCall, NoticeDelivery, Recipient } from './channel.ts'
import { readChannels, readChannelsOptions } from './checks.ts'
import { firstId, followNotices } from './notice-router.ts'
import { type NoticeProcedure, noticeProcedure } from './notices.ts'
import { type NotifyProcedure, notifyProcedure, usualRetry } from './notify.ts'
import { Router } from './router.ts'
import { createSubmit } from './submit.ts'

/**
 * A plug-in that delivers asks and notices through channels, such as `folder`, `mail` and `slack`. A channel that fails settles nothing.
 * Deliveries run on the engines that have the channel. Call it once for each engine.
 * @throws PawlError 'option-invalid'
 * @example
 * const engine = await createEngine({ store, procedures: [refund], plugins: [channels([folder('/var/lib/pawl/queues')])] })
 */
export function channels(list: readonly Channel[], options: ChannelsOptions = {}): Plugin {
  return new Channels(readChannels(list), readChannelsOptions(options).links)
}

/** A channel, and the procedures of its deliveries. */
interface Delivering {
  readonly channel: Channel
  readonly procedure: NotifyProcedure
  /** Null: the channel delivers no notices. */
  readonly notices: { readonly of: NoticeDelivery; readonly procedure: NoticeProcedure } | null
}

/** The channels of an engine: the procedures of their deliveries, and what starts those. */
class Channels implements Plugin {
  readonly name = 'channels'
  readonly #all: readonly Channel[]
  readonly #links: LinkOptions | undefined
  readonly #delivering: readonly Delivering[]
  /** The client through which deliveries read what they deliver, also while the engine stops. */
  #client: Client | null = null
  #isAtWork = false

  constructor(all: readonly Channel[], links: LinkOptions | undefined) {
    this.#all = all
    this.#links = links
    const parts = {
      readAsk: (id: string) => this.#read(id),
      addressesOf: (channel: Channel, ask: Ask, recipient: Recipient | undefined) =>
        this.#addressesOf(channel, ask, recipient),
      readNotice: (id: string) => this.#readNotice(id),
      noticesPage: links === undefined ? undefined : pageOf(links, 'notices'),
      retry: usualRetry,
    }
    this.#delivering = all.map((channel) => {
      const { name, notices: of } = channel
      const notices = of === undefined ? null : { of, procedure: noticeProcedure(name, of, parts) }
      return { channel, procedure: notifyProcedure(channel, parts), notices }
    })
  }

  get procedures(): NonNullable<Plugin['procedures']> {
    return this.#delivering.flatMap(({ procedure, notices }) => [
      procedure,
      ...(notices === null ? [] : [notices.procedure]),
    ])
  }

  /** Starts to deliver, and to receive replies. */
  async start(client: Client, host: PluginHost): Promise<StopPlugin> {
    if (this.#isAtWork)
      refuse(
        'plugins of createEngine',
        this,
        'Call channels() once for each engine.',
        'what channels() has returned for another engine',
      )
    this.#isAtWork = true
    this.#client = client
    const stops: StopPlugin[] = []
    const stop = async (): Promise<void> => {
      this.#isAtWork = false
      await stopAll(stops, host)
    }
    try {
      for (const one of this.#delivering) stops.push(this.#startOne(one, client, host))
    } catch (error) {
      await stop()
      throw error
    }
    return stop
  }

  #startOne({ channel, procedure, notices }: Delivering, client: Client, host: PluginHost): StopPlugin {
    new Router({ client, host, channel, procedure, all: this.#all }).start()
    if (notices !== null) followNotices({ client, host, channel: channel.name, ...notices })
    return channel.start?.(createSubmit({ client, host, channel, procedure })) ?? (() => {})
  }

  #read(id: string): Promise<Ask | null> {
    return this.#started.inbox.get(id)
  }

  async #readNotice(id: string): Promise<Notice | null> {
    // None has the number 0.
    if (id === firstId) return null
    const { items } = await this.#started.inbox.notices({ id })
    return items[0] ?? null
  }

  get #started(): Client {
    if (this.#client === null)
      throw new TypeError('Deliveries run only in an engine that has started the channels.')
    return this.#client
  }

  #addressesOf(
    { name }: Channel,
    ask: Ask,
    recipient: Recipient | undefined,
  ): Pick<DeliverCall, 'link' | 'page'> {
    const links = this.#links
    if (links === undefined) return { link: undefined, page: undefined }
    const page = pageOf(links, `asks/${ask.id}`)
    if (!isPerson(recipient)) return { link: undefined, page }
    const expiresAt = linkEnd(ask, Date.now())
    const link = { ask: ask.id, as: recipient.name, madeBy: `system:${name}` as const, expiresAt }
    return { page, link: linkSigner(links).urlOf(link) }
  }
}

async function stopAll(stops: readonly StopPlugin[], { logger }: PluginHost): Promise<void> {
  const outcomes = await Promise.allSettled(stops.map(async (stop) => stop()))
  for (const one of outcomes)
    if (one.status === 'rejected') logger.error('A channel could not be stopped', { error: one.reason })
}

/** The address of a page of the inbox. */
function pageOf({ publicUrl }: LinkOptions, page: string): string {
  return `${publicUrl.replace(/\/$/, '')}/#/${page}`
}

function isPerson(
  recipient: Recipient | undefined,
): recipient is Recipient & { readonly name: `user:${string}` } {
  return recipient?.name.startsWith('user:') === true
}
