import { expect, test } from 'vitest'
import { Starvation } from '../../src/worker/starvation.ts'
import { ManualClock } from './support/manual-clock.ts'

function create() {
  const clock = new ManualClock()
  const slots = { releases: 0, queued: 2, taken: 4 }
  const warnings: string[] = []
  const starvation = new Starvation(slots, clock, { warn: (message) => warnings.push(message) })
  return {
    ...{ slots, warnings },
    async pass(ms: number): Promise<void> {
      await clock.pass(ms)
      starvation.look()
    },
  }
}

test('logs once if no slot is released for 30 s while bodies wait', async () => {
  const { warnings, pass } = create()
  await pass(0)
  await pass(29_999)
  expect(warnings).toEqual([])
  await pass(1)
  expect(warnings).toEqual([
    expect.stringContaining('All 4 step slots have been busy for 30 s and 2 steps are queued'),
  ])
  await pass(60_000)
  expect(warnings).toHaveLength(1)
})

test('counts from zero after a slot is released', async () => {
  const { slots, warnings, pass } = create()
  await pass(0)
  await pass(29_999)
  slots.releases++
  await pass(1)
  await pass(29_999)
  expect(warnings).toEqual([])
  await pass(1)
  expect(warnings).toHaveLength(1)
})

test('does not log without a waiting body', async () => {
  const { slots, warnings, pass } = create()
  slots.queued = 0
  await pass(0)
  await pass(60_000)
  slots.queued = 1
  await pass(1)
  expect(warnings).toEqual([])
})
