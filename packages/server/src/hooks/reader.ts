import { setTimeout as pause } from 'node:timers/promises'
import { type Client, type FeedEvent, PawlError, type PluginHost, type RunView, ref } from '@pawl/core'
import { isBuiltIn } from '@pawl/core/internal'
import { showAsk, showBrief, showNotice, showRun } from '../json/views.ts'
import { deliverName, type Hook, hookName, type hookProcedure } from './procedures.ts'
import { feedTag, hookRunId, listHooks, placeOf, type RegisteredHook, startDelivery } from './registry.ts'

interface ReaderOptions {
  readonly client: Client
  readonly host: PluginHost
  /** Poll interval for hooks that were registered elsewhere. */
  readonly everyMs: number
}

/** Follows the feed for each hook and starts its deliveries. */
export interface HookReader {
  /** Looks for hooks now. */
  wake(): void
  /** Resolves once it looks for hooks no more, after `host.signal` has aborted. */
  readonly ended: Promise<void>
}

const maxPauseMs = 30_000

export function startHookReader({ client, host, everyMs }: ReaderOptions): HookReader {
  const following = new Map<string, () => Promise<void>>()
  let wakeUp = new AbortController()

  const follow = (hook: RegisteredHook): (() => Promise<void>) =>
    host.follow(`the feed for webhook ${hook.id}`, (event) => handle(client, hook, event), {
      after: () => placeOf(client, hook),
      onReset: 'oldest',
    })
  const look = async (): Promise<void> => {
    const on = (await listHooks(client)).filter(({ isOn }) => isOn)
    const ids = new Set(on.map(({ id }) => id))
    for (const [id, stop] of following)
      if (!ids.has(id)) {
        following.delete(id)
        await stop()
      }
    for (const hook of on) if (!following.has(hook.id)) following.set(hook.id, follow(hook))
  }
  const repeat = async (): Promise<void> => {
    let waitMs = everyMs
    while (!host.signal.aborted) {
      wakeUp = new AbortController()
      try {
        await look()
        waitMs = everyMs
      } catch (error) {
        if (host.signal.aborted) return
        waitMs = Math.min(waitMs * 2, maxPauseMs)
        host.logger.warn(`Webhooks cannot be read from the store. Retrying in ${waitMs} ms.`, { error })
      }
      await pause(waitMs, undefined, {
        signal: AbortSignal.any([wakeUp.signal, host.signal]),
        ref: false,
      }).catch(() => {})
    }
  }
  return { wake: () => wakeUp.abort(), ended: repeat() }
}

/** Starts the delivery of an event that the hook wants. */
async function handle(client: Client, hook: RegisteredHook, event: FeedEvent): Promise<void> {
  if (event.event === 'reset') return
  if (event.event === 'run.ended') await noteEnded(client, hook, event.run, event.n)
  if (hook.events.length > 0 && !hook.events.includes(event.event)) return
  const body = await bodyOf(client, hook, event)
  if (body !== null) await startDelivery(client, hook, event.n, body)
}

/** Switches the hook off if a delivery to it has failed for good. */
async function noteEnded(client: Client, hook: RegisteredHook, run: string, n: number): Promise<void> {
  const view = await client.get(run).status().catch(ignoreMissing)
  if (view?.procedure !== deliverName || !view.tags.includes(feedTag(hook.id))) return
  if (view.endedAt !== undefined && view.endedAt < hook.onSince) return
  const reason = await reasonOf(client, hook, view)
  if (reason === undefined) return
  const hookRun = client.get(ref<typeof hookProcedure>(hookName), hookRunId(hook.id))
  await hookRun.signal('off', { reason }, { id: `off:${n}` }).catch(ignoreEnded)
}

/** Returns the reason for which an ended delivery switches its hook off; undefined if it does not. */
async function reasonOf(client: Client, { id }: Hook, delivery: RunView): Promise<string | undefined> {
  if (delivery.status === 'completed')
    return (await client.get(delivery.id).result()) === 'gone'
      ? 'the receiver replied with status 410'
      : undefined
  if (delivery.status !== 'failed') return undefined
  const { items } = await client.list({ tag: feedTag(id), status: 'completed', limit: 1 })
  const [last] = items
  const isUp = last?.endedAt !== undefined && last.endedAt > delivery.startedAt
  return isUp ? undefined : `a delivery failed for good: ${delivery.failure?.message ?? 'without a reason'}`
}

/** Returns the body for a receiver; null for events of hooks, and of things that are gone. */
async function bodyOf(
  client: Client,
  { include }: Hook,
  event: Exclude<FeedEvent, { readonly event: 'reset' }>,
): Promise<object | null> {
  const head = { type: event.event, timestamp: event.at.toISOString() }
  if (event.event === 'ask.opened' || event.event === 'ask.closed') {
    const ask = await client.inbox.get(event.ask)
    if (ask === null || isBuiltIn(ask.procedure)) return null
    const { id, run, procedure, kind, status } = showBrief(ask)
    return {
      ...head,
      data: { ask: include === 'full' ? showAsk(ask) : { id, run, procedure, kind, status } },
    }
  }
  if (event.event === 'notice') {
    const [notice] = (await client.inbox.notices({ id: event.notice })).items
    if (notice === undefined || isBuiltIn(notice.procedure)) return null
    const { id, run, procedure, kind, severity } = notice
    return {
      ...head,
      data: { notice: include === 'full' ? showNotice(notice) : { id, run, procedure, kind, severity } },
    }
  }
  const view = await client.get(event.run).status().catch(ignoreMissing)
  if (view === undefined || isBuiltIn(view.procedure)) return null
  const { id, procedure, status } = view
  return { ...head, data: { run: include === 'full' ? showRun(view) : { id, procedure, status } } }
}

function ignoreMissing(error: unknown): undefined {
  if (!PawlError.is(error, 'run-not-found')) throw error
}

function ignoreEnded(error: unknown): void {
  if (!PawlError.is(error, 'run-ended') && !PawlError.is(error, 'run-not-found')) throw error
}
