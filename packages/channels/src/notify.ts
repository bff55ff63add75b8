import {
  type Actor,
  type Ask,
  type Ctx,
  type Procedure,
  procedure,
  type Retry,
  type Schema,
} from '@pawl/core'
import { deliveryProcedureOf } from '@pawl/core/internal'
import type { Channel, DeliverCall, Recipient } from './channel.ts'
import { checkRecipients, checkRef } from './checks.ts'
import { askOfDelivery, stepNameOf } from './names.ts'

/** A comment, as it is kept with its delivery. Nothing proves that `by` wrote it, unless the channel verifies identities. */
export interface KeptComment {
  readonly by: Actor
  readonly comment: string
}

export interface NotifyTalk {
  signals: { closed: unknown; comment: KeptComment }
}

export type NotifyProcedure = Procedure<undefined, 'closed', NotifyTalk>

/** What a delivery needs of its engine. */
export interface NotifyParts {
  /** Returns the ask as it is now; null if it no longer exists. */
  readAsk(id: string): Promise<Ask | null>
  /** The addresses of an ask for a recipient. */
  addressesOf(
    channel: Channel,
    ask: Ask,
    recipient: Recipient | undefined,
  ): Pick<DeliverCall, 'link' | 'page'>
  readonly retry: Retry
}

/** 5 s, 10 s and so on up to 5 min, for about a day. */
export const usualRetry: Retry = { attempts: 290, backoff: '5s', factor: 2, max: '5m', jitter: 'none' }
/** Of one attempt. */
export const timeout = '30s'

const anything: Schema = {
  '~standard': { version: 1, vendor: 'pawl', validate: (value: unknown) => ({ value }) },
}

/**
 * Creates the procedure whose runs deliver asks to a channel: it delivers to each recipient, waits until the ask is closed, and
 * updates what it has delivered. Comments wait in its log.
 */
export function notifyProcedure(channel: Channel, parts: NotifyParts): NotifyProcedure {
  const signals = { closed: anything, comment: anything as Schema<KeptComment> }
  return procedure({ name: deliveryProcedureOf(channel.name), signals, bugs: 'fail' }, async (ctx) => {
    const delivery = new AskDelivery(channel, parts, ctx.runId)
    const recipients = await delivery.recipients(ctx)
    const outcomes = await ctx.map(recipients, (one, ctx) => delivery.deliver(ctx, one), {
      onError: 'collect',
    })
    while ((await ctx.receiveAny(['comment', 'closed'])).name !== 'closed');
    const told = outcomes.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []))
    await ctx.map(told, (one, ctx) => delivery.update(ctx, one))
    const failed = outcomes.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return 'closed' as const
  })
}

/** What a recipient was told, and how to change it. */
interface Told {
  readonly recipient: Recipient | undefined
  readonly ref: string
}

/** The effects of one delivery. Each is a step. */
class AskDelivery {
  readonly #channel: Channel
  readonly #parts: NotifyParts
  readonly #ask: string
  /**
   * Whether this process has begun the delivery. If not, another one may have died, or lost the run, in the middle of an attempt
   * that no log knows of.
   */
  #isOwn = false
  /** The recipients who may have got an attempt that has not failed by the channel's own word. */
  readonly #unknown = new Set<string | undefined>()

  constructor(channel: Channel, parts: NotifyParts, run: string) {
    this.#channel = channel
    this.#parts = parts
    this.#ask = askOfDelivery(run, channel.name)
  }

  /** Whom to deliver to: no one if the ask was closed before. The result is recorded before any attempt to deliver. */
  async recipients(ctx: Ctx): Promise<readonly (Recipient | undefined)[]> {
    if (this.#channel.recipients === undefined) {
      // A run of an earlier version whose log says so has delivered, or has tried.
      if (ctx.version('delivery', 1, 2) === 1) return [undefined]
      const isOpen = await ctx.step('begin', async () => (await this.#begin()) !== null, this.#attempts)
      return isOpen ? [undefined] : []
    }
    return ctx.step(
      'find recipients',
      async () => {
        const ask = await this.#begin()
        return ask === null ? [] : checkRecipients(this.#channel.name, await this.#channel.recipients?.(ask))
      },
      this.#attempts,
    )
  }

  /**
   * Every attempt looks whether the ask is still open, so that an outage ends with the ask. A closed ask is delivered unless all
   * attempts are known to have failed: without a `ref`, what people see could not be updated.
   */
  async deliver(ctx: Ctx, recipient: Recipient | undefined): Promise<Told | null> {
    const ref = await ctx.step(
      stepNameOf('deliver', recipient),
      async (call) => {
        const ask = await this.#findToDeliver(recipient)
        if (ask === null) return null
        const { link, page } = this.#parts.addressesOf(this.#channel, ask, recipient)
        // The holder of a link acts as its person, so a channel that does not need one gets none.
        const own = this.#channel.can.identity === 'link' ? link : undefined
        const isKnown = !this.#unknown.has(recipient?.name)
        this.#unknown.add(recipient?.name)
        try {
          const made = await this.#channel.deliver(ask, { ...call, link: own, page, recipient })
          return checkRef(this.#channel.name, made)
        } catch (error) {
          // One that was given up may have delivered.
          if (isKnown && !call.signal.aborted) this.#unknown.delete(recipient?.name)
          throw error
        }
      },
      this.#attempts,
    )
    return ref === null ? null : { recipient, ref }
  }

  async update(ctx: Ctx, { recipient, ref }: Told): Promise<void> {
    if (this.#channel.update === undefined) return
    await ctx.step(
      stepNameOf('update', recipient),
      async (call) => {
        const ask = await this.#parts.readAsk(this.#ask)
        if (ask !== null) await this.#channel.update?.(ref, ask, { ...call, recipient })
      },
      this.#attempts,
    )
  }

  async #findToDeliver(recipient: Recipient | undefined): Promise<Ask | null> {
    const ask = await this.#parts.readAsk(this.#ask)
    if (ask === null || ask.status === 'open') return ask
    const mayBeDelivered = !this.#isOwn || this.#unknown.has(recipient?.name)
    return mayBeDelivered && this.#channel.update !== undefined ? ask : null
  }

  get #attempts() {
    return { retry: this.#parts.retry, timeout } as const
  }

  /** Returns the ask if it is open. No attempt was made before. */
  async #begin(): Promise<Ask | null> {
    this.#isOwn = true
    const ask = await this.#parts.readAsk(this.#ask)
    return ask?.status === 'open' ? ask : null
  }
}
