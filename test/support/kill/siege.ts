import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Client, createClient, PawlError } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { bundle, temporaryFolder } from '../bundle.ts'
import { type Acknowledged, check, type Findings } from './check.ts'
import { makeOrder } from './order.ts'
import { WorkerProcess } from './worker-process.ts'

export interface SiegeOptions {
  readonly seed: number
  readonly kills: number
  /** How many workers are at it at once. */
  readonly workers: number
  /** Stop workers past their lease and let them go on, instead of killing some. */
  readonly pauses?: number
  readonly env?: Readonly<Record<string, string>>
}

export interface SiegeReport extends Findings {
  readonly kills: number
  readonly pauses: number
  readonly runs: number
}

/**
 * Workers on one file are killed at random moments and started again, while a client starts runs, answers
 * their questions and sends them signals, and remembers what was acknowledged. Ends when all runs are through.
 */
export async function besiege({
  seed,
  kills,
  workers,
  pauses = 0,
  env = {},
}: SiegeOptions): Promise<SiegeReport> {
  const folder = await temporaryFolder()
  const file = join(folder, 'siege.db')
  const ledger = join(folder, 'ledger.ndjson')
  const program = await bundle(new URL('../../programs/kill-worker.ts', import.meta.url).pathname)
  const client = createClient({ store: sqlite(file) })
  const order = makeOrder(ledger)
  const random = seeded(seed)
  const acknowledged: Acknowledged = { runs: new Set(), answers: new Map(), signals: new Map() }
  const count = { kills: 0, pauses: 0 }
  let isOver = false
  const isDone = (): boolean => count.kills >= kills && count.pauses >= pauses

  const start = (): WorkerProcess => new WorkerProcess(program, [file, ledger, '1s'], env)
  const attack = async (): Promise<void> => {
    let worker = start()
    await worker.ready()
    while (!isDone()) {
      await wait(random() * 250)
      if (count.pauses < pauses && random() < pauses / (pauses + kills)) {
        count.pauses++
        worker.pause()
        await wait(1_100 + random() * 600)
        worker.goOn()
      } else if (count.kills < kills) {
        count.kills++
        await worker.kill()
        worker = start()
        if (random() < 0.8) await worker.ready()
      }
    }
    while (!isOver) await wait(10)
    await worker.kill()
  }
  const attacks = Array.from({ length: workers }, attack)
  await driveRuns({ client, order, random, acknowledged, isDone })
  await Promise.all([...acknowledged.runs].map((id) => client.get(order, id).result({ timeout: '60s' })))
  isOver = true
  await Promise.all(attacks)
  await client.stop()
  const findings = check(file, ledger, acknowledged)
  if (findings.problems.length === 0) await rm(folder, { recursive: true })
  await rm(join(program, '..'), { recursive: true })
  return { ...findings, ...count, runs: acknowledged.runs.size }
}

interface Driving {
  readonly client: Client
  readonly order: ReturnType<typeof makeOrder>
  readonly random: () => number
  readonly acknowledged: Acknowledged
  readonly isDone: () => boolean
}

async function driveRuns({ client, order, random, acknowledged, isDone }: Driving): Promise<void> {
  const under = new Set<Promise<void>>()
  for (let n = 0; !isDone() || n < 5; n++) {
    const drive = driveOne({ client, order, random, acknowledged }, n).finally(() => under.delete(drive))
    under.add(drive)
    if (under.size >= 10) await Promise.race(under)
  }
  await Promise.all(under)
}

async function driveOne(
  { client, order, random, acknowledged }: Omit<Driving, 'isDone'>,
  n: number,
): Promise<void> {
  const id = `order ${n}`
  const run = await client.run(order, { n }, { id })
  acknowledged.runs.add(id)
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
  const early = random() < 0.3
  if (random() < 0.5) await pay()
  if (!early) await client.inbox.next({ run: id, timeout: '60s' })
  await Promise.all(random() < 0.3 ? [answer('user:ana'), answer('user:bob')] : [answer('user:ana')])
  if (!acknowledged.signals.has(id)) await pay()
}

/** mulberry32: small, and the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
