import { expect, it, onTestFinished } from 'vitest'
import { type Mutation, makeMutant } from './support/mutants.ts'
import { ownedRun, refund, step } from './support/runs.ts'
import { openStore, tempFile } from './support/stores.ts'

// Each half of the fence is needed: here the store lacks one, and lets through what only that one stops.

async function openMutant(file: string, mutation: Mutation) {
  const store = makeMutant(file, mutation)
  onTestFinished(() => store.close())
  await store.open()
  return store
}

it('control: without the epoch, a worker that claimed its run again writes for its former claim', async () => {
  for (const [mutation, outcome] of [
    ['without a check of the epoch', 'ok'],
    ['nothing', 'fenced'],
  ] as const) {
    const store = await openMutant(tempFile(), mutation)
    const standing = await ownedRun(store, 'a')
    await store.log.commit(standing.worker, [{ ...step(standing), next: { do: 'park', wakeAt: 1 } }])
    await store.claims.claim({ worker: standing.worker, procedures: refund }, 1)
    expect(await store.log.commit(standing.worker, [step({ ...standing, head: 2 })])).toMatchObject([
      { outcome },
    ])
  }
})

it('control: without the worker, a worker that has parked its run writes to it again', async () => {
  for (const [mutation, outcome] of [
    ['without a check of the worker', 'ok'],
    ['nothing', 'fenced'],
  ] as const) {
    const store = await openMutant(tempFile(), mutation)
    const standing = await ownedRun(store, 'a')
    await store.log.commit(standing.worker, [{ ...step(standing), next: { do: 'park', wakeAt: null } }])
    expect(await store.log.commit(standing.worker, [step({ ...standing, head: 2 })])).toMatchObject([
      { outcome },
    ])
  }
})

it('control: without the counter of messages, a run is parked over an unread one', async () => {
  for (const [mutation, parked] of [
    ['parking whatever mail has come', true],
    ['nothing', false],
  ] as const) {
    const store = await openMutant(tempFile(), mutation)
    const standing = await ownedRun(store, 'a')
    await store.mail.send(
      [{ run: 'a', kind: 'signal', name: 'ping', key: null, by: null, payload: null }],
      null,
    )
    const park = { ...step(standing), next: { do: 'park', wakeAt: null } } as const
    expect(await store.log.commit(standing.worker, [park])).toMatchObject([{ outcome: 'ok', parked }])
  }
})

it('control: every mutant differs from the store', async () => {
  const file = tempFile()
  const store = await openStore(file)
  const standing = await ownedRun(store, 'a')
  const mutant = await openMutant(file, 'without a check of epoch and worker')
  expect(await mutant.log.commit(99, [step({ ...standing, epoch: 7 })])).toMatchObject([{ outcome: 'ok' }])
})
