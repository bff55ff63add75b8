import { definitionOf, type ProcedureDefinition } from '../../authoring/procedure.ts'
import { linkEnd, linkSigner } from '../../host/links/token.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Client } from '../types.ts'
import type { Ask } from '../views/views.ts'
import type { Channel, DeliverCall, LinkOptions, Recipient } from './channel.ts'
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

/** The channels of an engine: the procedures of their deliveries, and what starts those. */
export class Channels {
  readonly #ports: ChannelPorts
  readonly #procedures: readonly (readonly [Channel, NotifyProcedure])[]
  #client: Client | null = null
  #stops: readonly (() => void | Promise<void>)[] = []

  constructor(ports: ChannelPorts) {
    this.#ports = ports
    const parts = {
      readAsk: (id: string) => this.#read(id),
      addressesOf: (channel: Channel, ask: Ask, recipient: Recipient | undefined) =>
        this.#addressesOf(channel, ask, recipient),
      retry: usualRetry,
    }
    this.#procedures = ports.settings.channels.map((channel) => [channel, notifyProcedure(channel, parts)])
  }

  get procedures(): readonly ProcedureDefinition[] {
    return this.#procedures.map(([, procedure]) => definitionOf(procedure) as ProcedureDefinition)
  }

  /** The client through which deliveries read their asks. Set before the engine works. */
  connect(client: Client): void {
    this.#client = client
  }

  /** Starts to deliver, and to receive replies. */
  start(): void {
    const client = this.#client as Client
    const { settings, logger, clock } = this.#ports
    const { channels: all } = settings
    this.#stops = this.#procedures.flatMap(([channel, procedure]) => {
      const router = new Router({ client, channel, procedure, all, logger, clock })
      router.start()
      const stop = channel.start?.(createSubmit({ client, channel, procedure }))
      return stop === undefined ? [() => router.stop()] : [() => router.stop(), stop]
    })
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

  #addressesOf(
    { name }: Channel,
    ask: Ask,
    recipient: Recipient | undefined,
  ): Pick<DeliverCall, 'link' | 'page'> {
    const { links } = this.#ports.settings
    if (links === undefined) return { link: undefined, page: undefined }
    const page = `${links.publicUrl.replace(/\/$/, '')}/#/asks/${ask.id}`
    if (!isPerson(recipient)) return { link: undefined, page }
    const expiresAt = linkEnd(ask, this.#ports.clock.wall())
    const link = { ask: ask.id, as: recipient.name, madeBy: `system:${name}` as const, expiresAt }
    return { page, link: linkSigner(links).urlOf(link) }
  }
}

function isPerson(
  recipient: Recipient | undefined,
): recipient is Recipient & { readonly name: `user:${string}` } {
  return recipient?.name.startsWith('user:') === true
}
