import { readEngineOptions } from '@pawl/core/internal'
import { expect, test } from 'vitest'
import { readEffects } from '../support/kill/effects.ts'
import { begunOf } from '../support/kill/order.ts'
import type { WorkerProcess } from '../support/kill/worker-process.ts'
import { type Scene, setScene } from './scene.ts'

const id = 'order'

/** A run that only waits for its steps, and a worker that is in the first of them and stays there. */
async function startOrder(scene: Scene, lease: string): Promise<WorkerProcess> {
  const { client, order, ledger } = scene
  const worker = await scene.startWorker({ lease, gate: `${ledger}.gate` })
  const run = await client.run(order, { n: 1 }, { id })
  await run.signal('paid', { cents: 1 })
  await client.inbox.answer({ run: id, key: 'go on' }, { approved: true }, { as: 'user:ana' })
  await expect.poll(() => readEffects(begunOf(ledger))).toHaveLength(1)
  return worker
}

test.for([1_000, readEngineOptions({ procedures: [] }).leaseMs])(
  'with a lease of %i ms a worker on another machine goes on a few leases later',
  async (leaseMs) => {
    const scene = await setScene()
    const { owner } = scene.place.database
    const doomed = await startOrder(scene, `${leaseMs}ms`)
    await scene.startWorker({ lease: `${leaseMs}ms`, env: { NEIGHBOURS: 'off' } })
    await doomed.kill()
    const killed = await owner.query<{ at: number }>(
      'select extract(epoch from clock_timestamp()) * 1000 as at',
    )
    await scene.client.get(scene.order, id).result()
    const { rows } = await owner.query<{ at: string }>('select at from pawl.events where seq = 1')
    // One lease and a sweep on an idle machine.
    expect(Number(rows[0]?.at) - Number(killed.rows[0]?.at)).toBeLessThan(10 * leaseMs + 10_000)
  },
)

// Elsewhere than on Linux nobody can know when a process was started.
test.runIf(process.platform === 'linux')(
  'a worker that starts where another was killed goes on at once',
  async () => {
    const scene = await setScene()
    // Nobody waits for this lease to run out, or for a fifth of it to pass.
    const first = await startOrder(scene, '1h')
    await first.kill()
    const second = await scene.startWorker({ lease: '1h' })
    await scene.client.get(scene.order, id).result()
    const { problems } = await scene.check({ runs: new Set([id]) })
    expect(problems).toEqual([])
    expect(new Set(readEffects(scene.ledger).map(({ pid }) => pid))).toEqual(new Set([second.pid]))
  },
)

test('a stopping worker finishes its running step and releases its run at once', async () => {
  const scene = await setScene()
  // The second worker cannot see that the process of the first is gone, and the test fails long before the lease expires.
  const first = await startOrder(scene, '1h')
  await first.stop()
  const second = await scene.startWorker({ lease: '1h', env: { NEIGHBOURS: 'off' } })
  await scene.client.get(scene.order, id).result()
  const { problems } = await scene.check({ runs: new Set([id]) })
  expect(problems).toEqual([])
  const pids = readEffects(scene.ledger).map(({ pid }) => pid)
  expect(pids).toEqual([first.pid, second.pid, second.pid, second.pid, second.pid])
})

test('three processes: one starts a run, one executes it, one answers and pays', async () => {
  const scene = await setScene()
  const worker = await scene.startWorker()
  const run = await scene.client.run(scene.order, { n: 1 }, { id })
  await scene.run('customer', id)
  expect(await run.result()).toMatchObject({ by: 'user:customer', cents: 4500 })
  expect(new Set(readEffects(scene.ledger).map(({ pid }) => pid))).toEqual(new Set([worker.pid]))
})
