import { type Client, PawlError, type Plugin, type PluginHost, type Procedure } from '@pawl/core'
import {
  type DeliverProcedure,
  type DeliverySettings,
  deliverProcedure,
  type Hook,
  type HookTalk,
  hookProcedure,
  usualRetry,
} from './procedures.ts'
import { startHookReader } from './reader.ts'
import type { HookAccess } from './registry.ts'

/** The options of `webhooks`. */
export interface WebhookOptions {
  /**
   * The secret of each hook follows from a key. Deliveries are signed with all keys, and a new hook is shown its secret of the first.
   * Range: at least 32 characters each.
   */
  readonly keys: readonly [string, ...string[]]
  /** Whether private addresses and http: are allowed, such as inside a cluster. Default: false. */
  readonly allowPrivate?: boolean
}

/** The plug-in that sends webhooks. Created by `webhooks`. */
export interface Webhooks extends Plugin {
  readonly procedures: readonly [Procedure<Hook, 'deleted', HookTalk>, DeliverProcedure]
}

// In the symbol registry, since a config file may have loaded another copy of the package.
const accessKey = Symbol.for('@pawl/server/webhooks')

/**
 * A plug-in that sends webhooks: its engine follows the feed, and each delivery is a run. Pass it to a server on the same store as well,
 * which registers them.
 * @throws PawlError 'option-invalid'
 * @example
 * const hooks = webhooks({ keys: [process.env.HOOK_KEY] })
 * const engine = await createEngine({ store, procedures: [refund], plugins: [hooks] })
 * const server = createServer({ client: engine, hooks })
 */
export function webhooks(options: WebhookOptions): Webhooks {
  return webhooksWith(options, { retry: usualRetry, timeout: '10s', lookEveryMs: 2_000 })
}

interface Pace extends Pick<DeliverySettings, 'retry' | 'timeout'> {
  /** Between two looks for hooks that were registered in another process. */
  readonly lookEveryMs: number
}

/** `webhooks` with another retry and timeout of deliveries. */
export function webhooksWith(
  { keys, allowPrivate = false }: WebhookOptions,
  { lookEveryMs, ...attempts }: Pace,
): Webhooks {
  if (
    !Array.isArray(keys) ||
    keys.length === 0 ||
    !keys.every((key) => typeof key === 'string' && key.length >= 32)
  )
    throw new PawlError(
      'option-invalid',
      { option: 'keys of webhooks', given: typeof keys },
      { remedy: 'It must list keys of at least 32 characters, the newest first.' },
    )
  /** Wakes the readers of the engines in this process. */
  const wakes = new Set<() => void>()
  const made: Webhooks = {
    name: 'webhooks',
    procedures: [hookProcedure, deliverProcedure({ keys, allowPrivate, ...attempts })],
    start(client: Client, host: PluginHost) {
      const { wake, ended } = startHookReader({ client, host, everyMs: lookEveryMs })
      wakes.add(wake)
      return async () => {
        wakes.delete(wake)
        await ended
      }
    },
  }
  const access: HookAccess = {
    keys,
    allowPrivate,
    wake() {
      for (const wake of wakes) wake()
    },
  }
  return Object.defineProperty(made, accessKey, { value: access })
}

/** Returns what a server needs of them. @throws PawlError 'option-invalid' if it was not created by `webhooks` */
export function hookAccessOf(hooks: Webhooks): HookAccess {
  const access = (hooks as { readonly [accessKey]?: HookAccess } | null)?.[accessKey]
  if (access !== undefined) return access
  throw new PawlError(
    'option-invalid',
    { option: 'hooks of createServer', given: typeof hooks },
    { remedy: 'It must be created by `webhooks(…)`.' },
  )
}
