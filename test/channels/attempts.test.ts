import type { Ask, Channel } from '@pawl/core'
import { notifyProcedure } from '@pawl/core/internal'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'

type Attempt = (signal: AbortSignal) => Promise<void>

/** Delivers an ask that is answered after some attempts, and returns what the channel was told. */
async function deliver(openFor: number, ...made: readonly Attempt[]): Promise<readonly string[]> {
  const told: string[] = []
  let attempts = 0
  const readAsk = async () => ({ id: 'a', status: attempts < openFor ? 'open' : 'answered' }) as Ask
  const channel: Channel = {
    ...{ name: 'desk', can: { form: 'full', identity: 'none' } },
    async deliver({ status }, { signal }) {
      told.push(`delivered ${status}`)
      await made[attempts++]?.(signal)
      return { ref: 'r' }
    },
    update: async (ref, { status }) => void told.push(`updated ${ref} ${status}`),
  }
  const parts = { readAsk, addressesOf: () => ({}) as never, retry: { attempts: 3 } }
  const procedure = notifyProcedure(channel, parts)
  await using engine = await testEngine({ procedures: [procedure] })
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
  expect(await deliver(2, fails, fails)).toEqual(['delivered open', 'delivered open'])
})

test.each([
  ['hung', hangs],
  ['stopped', stops],
])('a closed ask is delivered after an attempt that was given up and %s', async (_, attempt) => {
  const told = await deliver(1, attempt, succeeds)
  expect(told).toEqual(['delivered open', 'delivered answered', 'updated r answered'])
})

test('a closed ask is delivered after an attempt that was given up and one that has failed', async () => {
  const told = await deliver(2, hangs, fails, succeeds)
  expect(told).toEqual(['delivered open', 'delivered open', 'delivered answered', 'updated r answered'])
})
