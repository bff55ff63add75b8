import type { Ask } from '@pawl/core'
import { isCritical } from '@pawl/core/internal'
import type { Channel } from './channel.ts'

/**
 * Whether an ask is delivered to a channel. A critical ask goes nowhere unless one of the channels that take it verifies identities:
 * the inbox still shows it.
 */
export function goesTo(channel: Channel, ask: Ask, all: readonly Channel[]): boolean {
  return takes(channel, ask) && !isWithheld(ask, all)
}

/** Whether channels take a critical ask, and none of them verifies identities. */
export function isWithheld(ask: Ask, all: readonly Channel[]): boolean {
  if (!isCritical(ask)) return false
  const taking = all.filter((channel) => takes(channel, ask))
  return taking.length > 0 && taking.every(({ can }) => can.identity !== 'verified')
}

function takes(channel: Channel, ask: Ask): boolean {
  const { kinds } = channel.can
  if (kinds !== undefined && !kinds.includes(ask.kind)) return false
  if (ask.kind === 'input' && !canFill(channel, ask)) return false
  return ask.channels === undefined ? (channel.wants?.(ask) ?? true) : ask.channels.includes(channel.name)
}

function canFill({ can: { form } }: Channel, { schema }: Ask): boolean {
  return form === 'full' || (form === 'flat' && isFlat(schema))
}

const scalars: readonly unknown[] = ['string', 'number', 'integer', 'boolean']

/** Whether a form has scalar fields only, or is a single one. */
function isFlat(schema: object | undefined): boolean {
  const { type, properties } = (schema ?? {}) as { readonly type?: unknown; readonly properties?: object }
  if (scalars.includes(type)) return true
  if (type !== 'object' || properties === undefined) return false
  return Object.values(properties).every(({ type }: { readonly type?: unknown }) => scalars.includes(type))
}
