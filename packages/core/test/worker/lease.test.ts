import { expect, test } from 'vitest'
import { Lease } from '../../src/worker/lease.ts'

/** A lease of 100 ms. Each call of the store takes `callMs`. */
function createLease() {
  let now = 0
  let nextKey = 1
  const state = { callMs: 0, isAlive: true, isFailing: false }
  const answer = <T>(value: T): Promise<T> => {
    now += state.callMs
    return state.isFailing ? Promise.reject(new Error('the disk is full')) : Promise.resolve(value)
  }
  const store = {
    workers: {
      register: () => answer(nextKey++),
      beat: () => answer(state.isAlive),
    },
  }
  const lease = new Lease({
    store,
    clock: { elapsed: () => now },
    name: 'a',
    leaseMs: 100,
    procedures: [],
    describeInputs: () => '[]',
  })
  return {
    ...{ lease, state },
    pass: (ms: number) => {
      now += ms
    },
  }
}

test('has no confirmed lease before the worker is registered', async () => {
  const { lease } = createLease()
  expect(lease.isProven).toBe(false)
  await lease.register()
  expect(lease).toMatchObject({ worker: 1, isProven: true })
})

test('lets the lease expire if it is not renewed', async () => {
  const { lease, pass } = createLease()
  await lease.register()
  pass(99)
  expect(lease.isProven).toBe(true)
  expect(await lease.renew()).toBe(true)
  pass(99)
  expect(lease.isProven).toBe(true)
  pass(1)
  expect(lease.isProven).toBe(false)
})

test('counts the lease from the call that renews it, not from its answer', async () => {
  const { lease, state, pass } = createLease()
  state.callMs = 60
  await lease.register()
  pass(39)
  expect(lease.isProven).toBe(true)
  pass(1)
  expect(lease.isProven).toBe(false)
  await lease.renew()
  expect(lease.isProven).toBe(true)
  pass(40)
  expect(lease.isProven).toBe(false)
})

test('does not renew the lease by a call that fails', async () => {
  const { lease, state, pass } = createLease()
  await lease.register()
  pass(50)
  state.isFailing = true
  await expect(lease.renew()).rejects.toThrow('the disk is full')
  pass(50)
  expect(lease.isProven).toBe(false)
})

test('loses the lease once other workers have taken over; a new registration has a new key', async () => {
  const { lease, state, pass } = createLease()
  await lease.register()
  pass(100)
  state.isAlive = false
  expect(await lease.renew()).toBe(false)
  expect(lease.isProven).toBe(false)
  await lease.register()
  expect(lease).toMatchObject({ worker: 2, isProven: true })
})
