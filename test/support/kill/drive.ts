import { type Client, PawlError } from '@pawl/core'
import type { Acknowledged } from './check.ts'
import type { makeOrder } from './order.ts'

export interface Driving {
  readonly client: Client
  readonly random: () => number
  /** Filled in as the store acknowledges. */
  readonly acknowledged: Acknowledged
  /** Runs that are driven at once. */
  readonly atOnce: number
  /** Whether to start another run, the n-th from 0. */
  readonly goesOn: (n: number) => boolean
}

export interface OrderDriving extends Driving {
  readonly order: ReturnType<typeof makeOrder>
  readonly onEnd?: (run: string) => void
}

/** Drives so many runs at once, until enough have begun and all have ended. */
export async function driveAll(driving: Driving, driveOne: (n: number) => Promise<void>): Promise<void> {
  const under = new Set<Promise<void>>()
  for (let n = 0; driving.goesOn(n); n++) {
    const drive = driveOne(n).finally(() => under.delete(drive))
    under.add(drive)
    if (under.size >= driving.atOnce) await Promise.race(under)
  }
  await Promise.all(under)
}

/** Starts orders, answers their questions, pays, and waits until each has ended, one way or another. */
export async function driveRuns(driving: OrderDriving): Promise<void> {
  await driveAll(driving, (n) => driveOne(driving, n))
}

async function driveOne(
  { client, order, random, acknowledged, onEnd }: OrderDriving,
  n: number,
): Promise<void> {
  const id = `order ${n}`
  const run = await client.run(order, { n }, { id })
  acknowledged.runs.add(id)
  // How it ended is for the checks to say. In a control a run may be lost.
  const ended = run.result({ timeout: '5m' }).then(
    () => {},
    () => {},
  )
  const pay = async (): Promise<void> => {
    const cents = 100 + n
    const times = random() < 0.3 ? 2 : 1
    for (let i = 0; i < times; i++) await run.signal('paid', { cents }, { id: 'payment' })
    acknowledged.signals.set(id, cents)
  }
  const answer = async (by: `user:${string}`): Promise<void> => {
    try {
      await client.inbox.answer({ run: id, key: 'go on' }, { approved: true }, { as: by })
      acknowledged.answers.set(id, by)
    } catch (error) {
      if (!PawlError.is(error, 'ask-closed') && !PawlError.is(error, 'run-ended')) throw error
    }
  }
  const isEarly = random() < 0.3
  if (random() < 0.5) await pay()
  if (!isEarly) await Promise.race([client.inbox.next({ run: id, timeout: '5m' }).catch(() => {}), ended])
  await Promise.all(random() < 0.3 ? [answer('user:ana'), answer('user:bob')] : [answer('user:ana')])
  if (!acknowledged.signals.has(id)) await pay()
  await ended
  onEnd?.(id)
}
