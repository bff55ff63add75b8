import { expect, test } from 'vitest'
import { readEffects } from '../support/kill/effects.ts'
import { begunOf, openGate } from '../support/kill/order.ts'
import type { WorkerProcess } from '../support/kill/worker-process.ts'
import { type Scene, setScene } from './scene.ts'

const runs = Array.from({ length: 20 }, (_, n) => ({ id: `order ${n}`, n }))

/**
 * A worker is stopped while it is in a step of every run, and goes on when another one has taken them all and is
 * in those steps itself: with results in its hands, where nothing has been written yet. It never learns that it
 * was taken for dead, so that nothing but the fence can keep it from writing. The other one waits at its gate.
 */
async function wakeZombie(
  scene: Scene,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly zombie: WorkerProcess; readonly openHeirsGate: () => void }> {
  const { client, order, ledger, startWorker } = scene
  const gates = { zombie: `${ledger}.zombie`, heir: `${ledger}.heir` }
  const zombie = await startWorker({ gate: gates.zombie, env: { DEAF: 'on', ...env } })
  await Promise.all(runs.map(({ id, n }) => client.run(order, { n }, { id })))
  await expect.poll(() => readEffects(begunOf(ledger))).toHaveLength(runs.length)
  zombie.pause()
  await startWorker({ gate: gates.heir, env })
  await expect.poll(() => readEffects(begunOf(ledger))).toHaveLength(2 * runs.length)
  openGate(gates.zombie)
  zombie.goOn()
  // Without the fence it continues, and may have had more effects by the time they are counted.
  await expect.poll(() => readEffects(ledger).length).toBeGreaterThanOrEqual(runs.length)
  return { zombie, openHeirsGate: () => openGate(gates.heir) }
}

test('a worker stopped past its lease writes nothing when it continues', async () => {
  const scene = await setScene()
  const { client, order } = scene
  const { zombie, openHeirsGate } = await wakeZombie(scene)
  openHeirsGate()
  for (const { id } of runs) {
    await client.inbox.answer({ run: id, key: 'go on' }, { approved: true }, { as: 'user:ana' })
    await client.get(order, id).signal('paid', { cents: 1 })
  }
  await Promise.all(runs.map(({ id }) => client.get(order, id).result()))
  const { problems, stale, repeats } = await scene.check({ runs: new Set(runs.map(({ id }) => id)) })
  expect(problems).toEqual([])
  expect(stale).toBe(0)
  // It did go on, in vain: the steps had their effects twice, with the same keys.
  const inVain = repeats.filter(({ step, pids }) => step === 'a' && pids[0] === zombie.pid)
  expect(inVain).toHaveLength(runs.length)
})

test('control: a worker stopped past its lease writes without the fence', async () => {
  const scene = await setScene()
  await wakeZombie(scene, { FENCE: 'off' })
  await expect.poll(async () => (await scene.check()).stale).toBeGreaterThanOrEqual(runs.length)
})
