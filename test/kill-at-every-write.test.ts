import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@pawl/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle, temporaryFolder } from './support/bundle.ts'
import { acknowledgeNothing, check } from './support/kill/check.ts'
import { makeOrder } from './support/kill/order.ts'
import { makeSqlitePlace } from './support/kill/sqlite-place.ts'
import { WorkerProcess } from './support/kill/worker-process.ts'
import { sqliteStore } from './support/sqlite.ts'

let program: string
beforeAll(async () => {
  program = await bundle(new URL('./programs/kill-worker.ts', import.meta.url).pathname)
})
afterAll(() => rm(join(program, '..'), { recursive: true }))

/**
 * One run from start to end, by a worker that kills itself before or after its n-th transaction and one that
 * finishes what is left. Returns whether the first lived to see the n-th.
 */
async function runKilledAt(
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

test('a worker killed before or after any of its transactions leaves a run that the next one finishes', async () => {
  let killed = 0
  for (const when of ['before', 'after'] as const)
    for (let n = 1; ; n++) {
      const { wasKilled, log } = await runKilledAt(n, when)
      expect(log.slice(0, 5)).toEqual([
        'step done',
        'step done',
        'step done',
        'hitl_approval done',
        'signal done',
      ])
      if (!wasKilled) break
      killed++
    }
  // Registration, sweeps and claims, and a transaction for each batch of events.
  expect(killed).toBeGreaterThan(20)
})
