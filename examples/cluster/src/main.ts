// A shop on PostgreSQL: three workers share its orders, and are killed at random. In the end every order is
// completed and paid once.
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { PostgresServer } from '../../../scripts/postgres/server.ts'
import { count, seconds, tell } from '../../shared/src/tell.ts'
import { Bank } from './bank.ts'
import { Fleet } from './demo/fleet.ts'
import { makeOrders, takeOrders } from './demo/orders.ts'
import { Records } from './demo/records.ts'
import { judge } from './demo/verdict.ts'

const { values } = parseArgs({
  options: {
    orders: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '16' },
    workers: { type: 'string', default: '3' },
    help: { type: 'boolean' },
  },
})
if (values.help) {
  tell.text(
    'npm run demo:cluster -- [--orders 1000] [--seconds 16] [--workers 3]',
    '  --orders   how many orders come in',
    '  --seconds  over how long a time they come in',
    '  --workers  how many worker processes there are',
  )
  process.exit()
}

tell.title(`${values.orders} orders, ${values.workers} workers, and kill -9`)
tell.text(
  'Worker processes on one PostgreSQL database execute the orders of a shop: each',
  'is reserved, charged, collected and shipped. They are killed at random, with',
  'SIGKILL, and started again. The remaining workers take over, and repeat nothing',
  'that is in the log. "At work" is what each worker has in its hands.',
  '',
)

const startedAt = Date.now()
const patienceMs = 30_000
const server = await PostgresServer.start()
const url = server.url()
tell.line('started', `PostgreSQL on port ${server.port}`)
const bank = new Bank(url)
const records = new Records(url)
const client = createClient({ store: postgres(url) })
const fleet = new Fleet(url, records)
let left: Promise<never> | undefined
process.once('SIGINT', () => void leave(130))

let passed = false
try {
  await bank.open()
  await fleet.start(Number(values.workers))
  passed = await work()
} catch (error) {
  tell.failed(error instanceof Error ? error.message : String(error))
}
await leave(passed ? 0 : 1)

async function work(): Promise<boolean> {
  const orders = makeOrders(Number(values.orders))
  let isOver = false
  const taking = takeOrders(client, orders, Number(values.seconds))
  const raid = fleet.raid(() => isOver)
  try {
    await Promise.race([Promise.all([taking, watch(orders.length)]), raid])
  } finally {
    isOver = true
  }
  await raid
  await fleet.stop()
  return sumUp(orders)
}

/** Tells each second how far it is. Resolves when all orders are done; rejects if progress stops. */
async function watch(all: number): Promise<void> {
  let last = { done: 0, at: Date.now() }
  for (;;) {
    const done = await records.countDone()
    if (done > last.done) last = { done, at: Date.now() }
    const held = await records.countHeld(fleet.pids)
    const at = fleet.pids.map((pid, place) => (pid === undefined ? '-' : `${held[place]}`).padStart(3))
    tell.line(
      `${Math.round((Date.now() - startedAt) / 1_000)} s`,
      `${bar(done / all)} ${String(done).padStart(4)} done, at work: ${at.join(' ')}`,
    )
    if (done === all) return
    if (Date.now() - last.at > patienceMs)
      throw new Error(`no order was completed for ${seconds(patienceMs)}; ${done} of ${all} are`)
    await pause(1_000)
  }
}

function bar(part: number): string {
  const width = 24
  const full = Math.round(part * width)
  return '█'.repeat(full) + '░'.repeat(width - full)
}

async function sumUp(orders: ReturnType<typeof makeOrders>): Promise<boolean> {
  const [payments, runs, events] = await Promise.all([bank.payments(), records.runs(), records.events()])
  const findings = judge({ orders, payments, runs, events, kills: fleet.kills })
  tell.title('Verdict')
  for (const { promise, faults } of findings) {
    if (faults.length === 0) tell.passed(promise)
    for (const fault of faults.slice(0, 5)) tell.failed(fault)
    if (faults.length > 5) tell.failed(`and ${faults.length - 5} more`)
  }
  const again = payments.filter(({ asked }) => asked > 1).length
  if (again > 0)
    tell.text(
      '',
      `${count(again, 'payment was', 'payments were')} asked for again: a worker died between the payment and its`,
      'record. The bank knew them by their idempotency keys.',
    )
  return findings.every(({ faults }) => faults.length === 0)
}

function leave(code: number): Promise<never> {
  left ??= clearUp(code)
  return left
}

async function clearUp(code: number): Promise<never> {
  await fleet.clear()
  await Promise.all([client.stop(), bank.close(), records.close()])
  if (code === 1) await server.stop()
  else await server.remove()
  if (code === 1) tell.text('', `The database is in ${server.dataDirectory}`)
  if (code === 0) tell.text('', `Passed, in ${seconds(Date.now() - startedAt)}. Nothing is left behind.`)
  process.exit(code)
}
