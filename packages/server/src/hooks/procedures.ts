import { type Duration, type Procedure, procedure, type Retry } from '@pawl/core'
import { z } from 'zod'
import { feedNames } from '../json/shapes.ts'
import { send } from './send.ts'
import { signedHeaders } from './signature.ts'

export const hookName = 'pawl.hook'
export const deliverName = 'pawl.deliver'

/** A registered receiver. It is the input of a run of `pawl.hook`, whose first step puts it into the log. */
export const hookShape = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.enum(feedNames)).meta({ description: 'Empty: all' }),
  include: z.enum(['ids', 'full']),
  /** The number in the feed after which it receives events. */
  from: z.number(),
  /** The person who registered it. Escalations are addressed to them. */
  by: z.templateLiteral(['user:', z.string()]),
})
export type Hook = z.infer<typeof hookShape>

const deliveryShape = z.object({ hook: z.string(), url: z.string(), body: z.string() })
export type Delivery = z.infer<typeof deliveryShape>

/** The reason for switching a hook off. */
const offShape = z.object({ reason: z.string() })
export interface HookTalk {
  signals: { off: z.infer<typeof offShape> }
}

/** The options of `webhooks` that the built-in procedures use. */
export interface DeliverySettings {
  readonly keys: readonly string[]
  readonly allowPrivate: boolean
  readonly retry: Retry
  /** Maximum time of each attempt. */
  readonly timeout: Duration
}

/** 5 s, 20 s, 80 s and so on up to 12 h: 18 attempts within about five days. */
export const usualRetry: Retry = { attempts: 18, backoff: '5s', factor: 4, max: '12h', jitter: 'none' }

/** The first step of a hook, whose result is the hook itself. */
export const registered = 'register'

/** A hook is a run: it waits to be switched off, then asks whether to switch it on again. It ends when it is cancelled or deleted. */
export const hookProcedure: Procedure<Hook, 'deleted', HookTalk> = procedure(
  { name: hookName, input: hookShape, output: z.literal('deleted'), signals: { off: offShape } },
  async (ctx, hook) => {
    await ctx.step(registered, () => hook)
    for (;;) {
      const { reason } = await ctx.receive('off')
      const { choice } = await ctx.human.escalate('The webhook to {url} is switched off: {reason}', {
        data: { url: withoutPath(hook.url), reason },
        choices: [
          {
            value: 'switch-on',
            label: 'Switch on',
            effect: 'Events of the last 7 days that it has missed are delivered.',
          },
          { value: 'delete', label: 'Delete', style: 'danger' },
        ],
        to: hook.by,
        history: 'none',
      })
      if (choice === 'delete') return 'deleted'
      // Other deliveries failed meanwhile, and have said so as well.
      while ((await ctx.receive('off', { timeout: '1ms' })) !== null);
    }
  },
)

/** The path of such an address is often its only secret. */
function withoutPath(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'unreadable'
}

export type DeliverProcedure = Procedure<Delivery, 'delivered' | 'gone'>

/** Delivers one event to one hook. */
export function deliverProcedure(settings: DeliverySettings): DeliverProcedure {
  const { keys, allowPrivate, retry, timeout } = settings
  return procedure(
    { name: deliverName, input: deliveryShape, output: z.enum(['delivered', 'gone']) },
    (ctx, { hook, url, body }) =>
      ctx.step(
        'deliver',
        ({ signal }) => {
          const headers = signedHeaders(keys, hook, { id: ctx.runId, at: Date.now(), body })
          return send({ url, body, headers, allowPrivate, signal })
        },
        { retry, timeout },
      ),
  )
}
