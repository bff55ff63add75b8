import { definitionOf, type ProcedureDefinition } from '../../authoring/procedure.ts'
import { linkEnd, linkSigner } from '../../host/links/token.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { newestOfFeed } from '../internal.ts'
import type { Client } from '../types.ts'
import type { Ask, Notice } from '../views/views.ts'
import type { Channel, DeliverCall, LinkOptions, NoticeDelivery, Recipient } from './channel.ts'
import { firstId, NoticeRouter } from './notice-router.ts'
import { type NoticeProcedure, noticeProcedure } from './notices.ts'
import { type NotifyProcedure, notifyProcedure, usualRetry } from './notify.ts'
import { Router } from './router.ts'
import { createSubmit } from './submit.ts'

/** The options of an engine about channels, validated. */
export interface ChannelSettings {
  readonly channels: readonly Channel[]
  readonly links: LinkOptions | undefined
}

export interface ChannelPorts {
  readonly settings: ChannelSettings
  readonly logger: Logger
  readonly clock: Clock
}

/** Maximum wait for the channels when the engine stops. */
const graceMs = 1_000

/** A channel, and the procedures of its deliveries. */
interface Delivering {
  readonly channel: Channel
  readonly procedure: NotifyProcedure
  /** Null: the channel delivers no notices. */
  readonly notices: { readonly of: NoticeDelivery; readonly procedure: NoticeProcedure } | null
}

/** The channels of an engine: the procedures of their deliveries, and what starts those. */
export class Channels {
  readonly #ports: ChannelPorts
  readonly #delivering: readonly Delivering[]
  #client: Client | null = null
  /** Number of the newest event of the feed before this engine began to work. */
  #newestBefore = 0
  #stops: readonly (() => void | Promise<void>)[] = []

  constructor(ports: ChannelPorts) {
    this.#ports = ports
    const { channels, links } = ports.settings
    const parts = {
      readAsk: (id: string) => this.#read(id),
      addressesOf: (channel: Channel, ask: Ask, recipient: Recipient | undefined) =>
        this.#addressesOf(channel, ask, recipient),
      readNotice: (id: string) => this.#readNotice(id),
      noticesPage: links === undefined ? undefined : pageOf(links, 'notices'),
      retry: usualRetry,
    }
    this.#delivering = channels.map((channel) => {
      const { name, notices: of } = channel
      const notices = of === undefined ? null : { of, procedure: noticeProcedure(name, of, parts) }
      return { channel, procedure: notifyProcedure(channel, parts), notices }
    })
  }

  get procedures(): readonly ProcedureDefinition[] {
    return this.#delivering
      .flatMap(({ procedure, notices }) => [procedure, ...(notices === null ? [] : [notices.procedure])])
      .map((procedure) => definitionOf(procedure) as ProcedureDefinition)
  }

  /** The client through which deliveries read what they deliver. Set before the engine works. */
  connect(client: Client): void {
    this.#client = client
  }

  /** Called before the engine works: a channel that is new to the store delivers the notices from here on. */
  async prepare(): Promise<void> {
    if (this.#delivering.some(({ notices }) => notices !== null))
      this.#newestBefore = await newestOfFeed(this.#client as Client)
  }

  /** Starts to deliver, and to receive replies. */
  start(): void {
    this.#stops = this.#delivering.flatMap((one) => this.#startOne(one))
  }

  #startOne({ channel, procedure, notices }: Delivering): readonly (() => void | Promise<void>)[] {
    const client = this.#client as Client
    const { settings, logger, clock } = this.#ports
    const router = new Router({ client, channel, procedure, all: settings.channels, logger, clock })
    router.start()
    const stops: (() => void | Promise<void>)[] = [() => router.stop()]
    if (notices !== null) {
      const { of, procedure } = notices
      const from = this.#newestBefore
      const told = new NoticeRouter({
        client,
        channel: channel.name,
        notices: of,
        procedure,
        from,
        logger,
        clock,
      })
      told.start()
      stops.push(() => told.stop())
    }
    const stop = channel.start?.(createSubmit({ client, channel, procedure }))
    return stop === undefined ? stops : [...stops, stop]
  }

  /** Stops all of it. What does not answer in time does not delay the engine: its calls are refused from then on. */
  async stop(): Promise<void> {
    const stops = this.#stops
    this.#stops = []
    let callOff = (): void => {}
    const over = new Promise<void>((resolve) => {
      callOff = this.#ports.clock.after(graceMs, resolve)
    })
    await Promise.race([this.#stopAll(stops), over])
    callOff()
  }

  async #stopAll(stops: readonly (() => void | Promise<void>)[]): Promise<void> {
    const outcomes = await Promise.allSettled(stops.map(async (stop) => stop()))
    for (const one of outcomes)
      if (one.status === 'rejected')
        this.#ports.logger.error('A channel could not be stopped', { error: one.reason })
  }

  #read(id: string): Promise<Ask | null> {
    return (this.#client as Client).inbox.get(id)
  }

  async #readNotice(id: string): Promise<Notice | null> {
    // None has the number 0.
    if (id === firstId) return null
    const { items } = await (this.#client as Client).inbox.notices({ id })
    return items[0] ?? null
  }

  #addressesOf(
    { name }: Channel,
    ask: Ask,
    recipient: Recipient | undefined,
  ): Pick<DeliverCall, 'link' | 'page'> {
    const { links } = this.#ports.settings
    if (links === undefined) return { link: undefined, page: undefined }
    const page = pageOf(links, `asks/${ask.id}`)
    if (!isPerson(recipient)) return { link: undefined, page }
    const expiresAt = linkEnd(ask, this.#ports.clock.wall())
    const link = { ask: ask.id, as: recipient.name, madeBy: `system:${name}` as const, expiresAt }
    return { page, link: linkSigner(links).urlOf(link) }
  }
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
