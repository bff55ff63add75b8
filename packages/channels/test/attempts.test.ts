import type { Channel } from '@pawl/channels'
import { type Ask, createEngine, type Store } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'
import { meddleWith } from '../../../test/support/meddling-store.ts'
import { notifyProcedure } from '../src/notify.ts'
import { silent } from './support.ts'

type Attempt = (signal: AbortSignal) => Promise<void>

/** The procedure that delivers an ask to a desk, which writes down what it is told. */
function deliveryTo(told: string[], statusOf: () => Ask['status'], attempt: Attempt, desk = 'desk') {
  const channel: Channel = {
    ...{ name: 'desk', can: { form: 'full', identity: 'none' } },
    async deliver({ status }, { signal }) {
      told.push(`${desk} gets ${status}`)
      await attempt(signal)
      return { ref: 'r' }
    },
    update: async (ref, { status }) => void told.push(`${desk} updates ${ref} ${status}`),
  }
  return notifyProcedure(channel, {
    readAsk: async () => ({ id: 'a', status: statusOf() }) as Ask,
    addressesOf: () => ({}) as never,
    retry: { attempts: 3, backoff: '5s', jitter: 'none' },
  })
}

/** Delivers an ask that is answered after some attempts, and returns what the desk was told. */
async function deliver(openFor: number, ...attempts: readonly Attempt[]): Promise<readonly string[]> {
  const told: string[] = []
  const procedure = deliveryTo(
    told,
    () => (told.length < openFor ? 'open' : 'answered'),
    async (signal) => attempts[told.length - 1]?.(signal),
  )
  await using engine = await testEngine({
    procedures: [],
    plugins: [{ name: 'desk', procedures: [procedure] }],
  })
  const run = await engine.run(procedure, undefined, { id: 'notify:a:desk' })
  await run.signal('closed', null)
  expect(await run.result()).toBe('closed')
  return told
}

const fails: Attempt = () => Promise.reject(new Error('connection refused'))
const hangs: Attempt = () => new Promise(() => {})
const stops: Attempt = (signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
const succeeds: Attempt = async () => {}

test('a closed ask is not delivered after attempts that have failed', async () => {
  expect(await deliver(2, fails, fails)).toEqual(['desk gets open', 'desk gets open'])
})

test.each([
  ['hung', hangs],
  ['stopped', stops],
])('a closed ask is delivered after an attempt that was given up and %s', async (_, attempt) => {
  const told = await deliver(1, attempt, succeeds)
  expect(told).toEqual(['desk gets open', 'desk gets answered', 'desk updates r answered'])
})

test('a closed ask is delivered after an attempt that was given up and one that has failed', async () => {
  const told = await deliver(2, hangs, fails, succeeds)
  expect(told).toEqual(['desk gets open', 'desk gets open', 'desk gets answered', 'desk updates r answered'])
})

test('a closed ask is delivered after an attempt that another engine made meanwhile and did not record', async () => {
  const told: string[] = []
  let status: Ask['status'] = 'open'
  const shared = memory()
  const { store, always } = meddleWith(shared)
  let mayClaim = Promise.resolve()
  always('claims.claim', async (go) => {
    await mayClaim
    return go()
  })
  const start = async (of: Store, desk: string, attempt: Attempt) => {
    const procedure = deliveryTo(told, () => status, attempt, desk)
    const engine = await createEngine({
      ...{ store: of, procedures: [], logger: silent },
      plugins: [{ name: 'desk', procedures: [procedure] }],
    })
    onTestFinished(() => engine.stop({ within: '0s' }))
    return { engine, procedure }
  }
  const { engine, procedure } = await start(store, 'first', (signal) =>
    told.length === 1 ? fails(signal) : succeeds(signal),
  )
  const run = await engine.run(procedure, undefined, { id: 'notify:a:desk' })
  await expect.poll(() => told).toEqual(['first gets open'])
  let release = (): void => {}
  mayClaim = new Promise((resolve) => {
    release = resolve
  })
  const second = await start(shared, 'second', hangs)
  await expect.poll(() => told).toEqual(['first gets open', 'second gets open'])
  status = 'answered'
  await second.engine.stop({ within: '0s' })
  await run.signal('closed', null)
  release()
  expect(await run.result()).toBe('closed')
  expect(told.slice(2)).toEqual(['first gets answered', 'first updates r answered'])
})
