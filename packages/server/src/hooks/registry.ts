import { type Client, PawlError, type RunView, ref } from '@pawl/core'
import {
  type DeliverProcedure,
  type Delivery,
  deliverName,
  type Hook,
  hookName,
  hookShape,
  registered,
} from './procedures.ts'

/** The webhooks of a server as its routes see them. */
export interface HookAccess {
  readonly keys: readonly string[]
  readonly allowPrivate: boolean
  /** Lets the engines of this process look for hooks at once. */
  wake(): void
}

/** A hook, and whether it is switched on. */
export interface RegisteredHook extends Hook {
  readonly isOn: boolean
  /** Time at which it was registered or last switched on. Earlier failures do not count. */
  readonly onSince: Date
}

export function hookRunId(hook: string): string {
  return `${hookName}:${hook}`
}

/** Tag of the deliveries of a hook that come from the feed. */
export function feedTag(hook: string): string {
  return `${hookName}:${hook}`
}

/** Returns the hooks that are neither deleted nor so new that no worker has begun their runs. */
export async function listHooks(client: Client): Promise<readonly RegisteredHook[]> {
  const hooks: RegisteredHook[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await client.list({
      procedure: hookName,
      status: ['running', 'waiting'],
      limit: 500,
      cursor,
    })
    for (const run of page.items) {
      const hook = await readHook(client, run)
      if (hook !== null) hooks.push(hook)
    }
    if (page.cursor === undefined) return hooks
    cursor = page.cursor
  }
}

async function readHook(client: Client, run: RunView): Promise<RegisteredHook | null> {
  const { execution_log } = await client.log(run.id, { after: -1, limit: 1 })
  const [first] = execution_log
  const parsed = hookShape.safeParse(first?.name === registered ? first.result : undefined)
  if (!parsed.success) return null
  // A run notes what it waits for when it parks, and it does not park while there are signals to read.
  const { items: open } = await client.inbox.list({ run: run.id, limit: 1 })
  return { ...parsed.data, isOn: open.length === 0, onSince: await lastSwitchedOn(client, run) }
}

/** The last answer to an escalation, else the start of the hook. */
async function lastSwitchedOn(client: Client, { id, startedAt }: RunView): Promise<Date> {
  const { execution_log: newest } = await client.log(id, { limit: 100 })
  const answered = newest.findLast(({ type, status }) => type === 'hitl_escalation' && status === 'done')
  return answered === undefined ? startedAt : new Date(answered.timestamp)
}

/** @throws PawlError 'run-not-found' */
export async function findHook(client: Client, id: string): Promise<RegisteredHook> {
  const run = await client.get(hookRunId(id)).status()
  const hook = run.endedAt === undefined ? await readHook(client, run) : null
  if (hook === null) throw new PawlError('run-not-found', { run: hookRunId(id) })
  return hook
}

/** Starts the delivery of an event, once: the same number has the same id. */
export async function startDelivery(
  client: Client,
  { id, url }: Hook,
  n: number,
  body: object,
): Promise<void> {
  const delivery: Delivery = { hook: id, url, body: JSON.stringify(body) }
  // The ask or run may have changed since the first start, and the body with it.
  await client.runOrGet(ref<DeliverProcedure>(deliverName), delivery, {
    id: `hook:${id}:${n}`,
    tags: [feedTag(id)],
  })
}

/** Starts a delivery that tries the hook. Returns the id of its run. */
export async function startTest(client: Client, { id, url }: Hook, at: Date): Promise<string> {
  const body = JSON.stringify({ type: 'ping', timestamp: at.toISOString(), data: {} })
  const run = await client.run(ref<DeliverProcedure>(deliverName), { hook: id, url, body })
  return run.id
}

/** The number of the last event whose delivery was started. Deliveries are started in the order of their numbers. */
export async function placeOf(client: Client, { id, from }: Hook): Promise<number> {
  const { items } = await client.list({ tag: feedTag(id), limit: 1 })
  const [newest] = items
  return newest === undefined ? from : Number(newest.id.slice(newest.id.lastIndexOf(':') + 1))
}
