import { PawlError, type Procedure } from '@pawl/core'
import {
  type DeliverProcedure,
  type DeliverySettings,
  deliverProcedure,
  type Hook,
  type HookTalk,
  hookProcedure,
  usualRetry,
} from './procedures.ts'

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

/** Webhooks of a server. Created by `webhooks`. */
export interface Webhooks {
  /** The procedures of the engine that delivers. */
  readonly procedures: readonly [Procedure<Hook, 'deleted', HookTalk>, DeliverProcedure]
}

// In the symbol registry, since a config file may have loaded another copy of the package.
const settingsKey = Symbol.for('@pawl/server/webhooks')

/**
 * Lets a server send webhooks. Pass it to the server, and its procedures to an engine on the same store: each delivery is a run.
 * @throws PawlError 'option-invalid'
 * @example
 * const hooks = webhooks({ keys: [process.env.HOOK_KEY] })
 * const engine = await createEngine({ store, procedures: [refund, ...hooks.procedures] })
 * const server = createServer({ client: engine, hooks })
 */
export function webhooks(options: WebhookOptions): Webhooks {
  return webhooksWith(options, { retry: usualRetry, timeout: '10s' })
}

/** `webhooks` with another retry and timeout of deliveries. */
export function webhooksWith(
  { keys, allowPrivate = false }: WebhookOptions,
  attempts: Pick<DeliverySettings, 'retry' | 'timeout'>,
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
  const settings = { keys, allowPrivate, ...attempts }
  const made: Webhooks = { procedures: [hookProcedure, deliverProcedure(settings)] }
  return Object.defineProperty(made, settingsKey, { value: settings })
}

/** @throws PawlError 'option-invalid' if it was not created by `webhooks` */
export function webhookSettings(hooks: Webhooks): DeliverySettings {
  const settings = (hooks as { readonly [settingsKey]?: DeliverySettings } | null)?.[settingsKey]
  if (settings !== undefined) return settings
  throw new PawlError(
    'option-invalid',
    { option: 'hooks of createServer', given: typeof hooks },
    { remedy: 'It must be created by `webhooks(…)`.' },
  )
}
