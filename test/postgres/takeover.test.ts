import { readEngineOptions } from '@pawl/core/internal'
import { expect, test } from 'vitest'
import { readEffects } from '../support/kill/effects.ts'
import { begunOf } from '../support/kill/order.ts'
import { ruler } from '../support/kill/ruler.ts'
import type { WorkerProcess } from '../support/kill/worker-process.ts'
import { type Scene, setScene } from './scene.ts'

const id = 'order'

/** A run that only waits for its steps, and a worker that is in the first of them. */
async function startOrder(scene: Scene, options: { lease: string; stepMs: number }): Promise<WorkerProcess> {
  const { client, order, ledger } = scene
  const worker = await scene.startWorker(options)
  const run = await client.run(order, { n: 1 }, { id })
  await run.signal('paid', { cents: 1 })
  await client.inbox.answer({ run: id, key: 'go on' }, { approved: true }, { as: 'user:ana' })
  await expect.poll(() => readEffects(begunOf(ledger)), { interval: 10 }).toHaveLength(1)
  return worker
}

const takeovers = [
  { leaseMs: 1_000, withinMs: 2_000 },
  // The default.
  { leaseMs: readEngineOptions({ procedures: [] }).leaseMs, withinMs: 15_000 },
]
test.for(takeovers)(
  'with a lease of $leaseMs ms, a worker on another machine goes on within $withinMs ms',
  async ({ leaseMs, withinMs }) => {
    const scene = await setScene()
    const { client, place } = scene
    const doomed = await startOrder(scene, { lease: `${leaseMs}ms`, stepMs: 60_000 })
    await scene.startWorker({ lease: `${leaseMs}ms`, env: { NEIGHBOURS: 'off' } })
    await doomed.kill()
    await (await client.run(ruler, withinMs, { id: 'ruler' })).result({ timeout: '25s' })
    const { rows } = await place.database.owner.query<{ isBefore: boolean }>(`
      select min(e.at) filter (where r.id = '${id}' and e.seq = 1)
           < min(e.at) filter (where r.id = 'ruler' and e.seq = 1) as "isBefore"
      from pawl.runs r join pawl.events e using (run)`)
    expect(rows).toEqual([{ isBefore: true }])
  },
)

// Elsewhere than on Linux nobody can know when a process was started.
test.runIf(process.platform === 'linux')(
  'a worker that starts where another was killed goes on at once',
  async () => {
    const scene = await setScene()
    // Nobody waits for this lease to run out, or for a fifth of it to pass.
    const first = await startOrder(scene, { lease: '1h', stepMs: 60_000 })
    await first.kill()
    const second = await scene.startWorker({ lease: '1h' })
    await scene.client.get(scene.order, id).result({ timeout: '20s' })
    const { problems } = await scene.check({ runs: new Set([id]) })
    expect(problems).toEqual([])
    expect(new Set(readEffects(scene.ledger).map(({ pid }) => pid))).toEqual(new Set([second.pid]))
  },
)

test('a worker that is stopped finishes the step it is in and hands its run back at once', async () => {
  const scene = await setScene()
  // Nobody waits for this lease to run out.
  const first = await startOrder(scene, { lease: '1h', stepMs: 500 })
  await first.stop()
  const second = await scene.startWorker({ lease: '1h' })
  await scene.client.get(scene.order, id).result({ timeout: '20s' })
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
  expect(await run.result({ timeout: '20s' })).toMatchObject({ by: 'user:customer', cents: 4500 })
  expect(new Set(readEffects(scene.ledger).map(({ pid }) => pid))).toEqual(new Set([worker.pid]))
})
