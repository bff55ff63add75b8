import { createClient, createEngine, procedure } from '@pawl/core'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'

/** Whether the thread that names who holds the event loop is there. */
function isWatched(): boolean {
  const cells = globalThis as { [key: symbol]: { readonly watched: boolean } | undefined }
  return cells[Symbol.for('@pawl/core/watch-cell')]?.watched ?? false
}

/** What its turns saw, oldest first, whether new or replayed. */
let seen: boolean[] = []
let onWaiting: () => void = () => {}
const patient = procedure({ name: 'patient', signals: { go: z.void(), hint: z.void() } }, async (ctx) => {
  seen.push(isWatched())
  await ctx.step('prepare', () => 1)
  seen.push(isWatched())
  onWaiting()
  await ctx.receive('go')
  seen.push(isWatched())
})

async function leaveWaiting(id: string) {
  seen = []
  const store = memory()
  const client = createClient({ store })
  onTestFinished(() => client.stop())
  const engine = await createEngine({ store, procedures: [patient] })
  expect(isWatched()).toBe(false)
  const isWaiting = new Promise<void>((resolve) => {
    // After the turn: in it no verb may be called.
    onWaiting = () => setImmediate(resolve)
  })
  await client.run(patient, undefined, { id })
  await isWaiting
  expect(seen).toEqual([true, true])
  await engine.stop()
  expect(isWatched()).toBe(false)
  seen = []
  return { store, run: client.get(patient, id) }
}

async function restart(store: ReturnType<typeof memory>): Promise<void> {
  const isWaiting = new Promise<void>((resolve) => {
    // After the turn: in it no verb may be called.
    onWaiting = () => setImmediate(resolve)
  })
  const engine = await createEngine({ store, procedures: [patient] })
  onTestFinished(() => engine.stop())
  await isWaiting
}

test('replayed turns are not watched, and the next one is', async () => {
  const { store, run } = await leaveWaiting('patient:1')
  await run.signal('hint')
  await restart(store)
  expect(seen).toEqual([false, false])
  await run.signal('go')
  await run.result()
  expect(seen).toEqual([false, false, true])
})

test('a run over which a worker died is watched from its first turn', async () => {
  const { store, run } = await leaveWaiting('patient:2')
  await run.signal('hint')
  const port = connectTo(store) as StorePort
  await port.open()
  onTestFinished(() => port.close())
  const worker = await port.workers.register({ name: 'doomed', leaseMs: -1_000 })
  const { runs } = await port.claims.claim({ worker, procedures: [{ name: 'patient', versions: [1] }] }, 10)
  expect(runs).toHaveLength(1)
  await port.workers.sweep()
  await restart(store)
  expect(seen).toEqual([true, true])
})
