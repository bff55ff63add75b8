import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@pawl/core'
import { expect } from 'vitest'
import { bundle, temporaryFolder } from '../bundle.ts'
import { sqliteStore } from '../sqlite.ts'
import { acknowledgeNothing, check } from './check.ts'
import { makeOrder } from './order.ts'
import { makeSqlitePlace } from './sqlite-place.ts'
import { WorkerProcess } from './worker-process.ts'

/**
 * One run from start to end, by a worker that kills itself before or after its n-th transaction and one that
 * finishes what is left. Returns whether the first lived to see the n-th.
 */
async function runKilledAt(
  program: string,
  n: number,
  when: 'before' | 'after',
): Promise<{ readonly wasKilled: boolean; readonly log: readonly string[] }> {
  const place = await makeSqlitePlace()
  const folder = await temporaryFolder()
  const file = place.location
  const ledger = join(folder, 'ledger.ndjson')
  const order = makeOrder(ledger)
  const client = createClient({ store: sqliteStore(file) })
  const run = await client.run(order, { n: 5 }, { id: 'order' })
  await run.signal('paid', { cents: 105 }, { id: 'payment' })
  await client.inbox.answer({ run: 'order', key: 'go on' }, { approved: true }, { as: 'user:ana' })

  const first = new WorkerProcess(program, [file, ledger, '1s'], { KILL_AT: `${n}:${when}` })
  await Promise.race([first.ended(), run.result()])
  const wasKilled = !first.isRunning
  await first.kill()
  const second = new WorkerProcess(program, [file, ledger, '1s'])
  await run.result()
  await second.kill()
  const { execution_log } = await client.log('order')
  await client.stop()
  const acknowledged = {
    ...acknowledgeNothing(),
    runs: new Set(['order']),
    answers: new Map([['order', 'user:ana']]),
    signals: new Map([['order', 105]]),
  }
  expect(
    check(await place.readRows(), ledger, acknowledged).problems,
    `killed ${when} transaction ${n}`,
  ).toEqual([])
  await rm(folder, { recursive: true })
  await place.remove()
  return { wasKilled, log: execution_log.map(({ type, status }) => `${type} ${status}`) }
}

/**
 * Repeats a run for the writes of a worker, from the first on, each time killed at one of them.
 * @param step 3 leaves out two of three writes
 * @returns how many workers were killed
 */
export async function killOrders(when: 'before' | 'after', first = 1, step = 1): Promise<number> {
  const program = await bundle(new URL('../../programs/kill-worker.ts', import.meta.url).pathname)
  try {
    for (let n = first, killed = 0; ; n += step, killed++) {
      const { wasKilled, log } = await runKilledAt(program, n, when)
      expect(log.slice(0, 5)).toEqual([
        'step done',
        'step done',
        'step done',
        'hitl_approval done',
        'signal done',
      ])
      if (!wasKilled) return killed
    }
  } finally {
    await rm(join(program, '..'), { recursive: true })
  }
}
