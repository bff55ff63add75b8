import { procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'

const retry = { attempts: 50, backoff: '1h', factor: 1, jitter: 'none' } as const

test('the log shows the failed attempts of an open step, and when the next is due', async () => {
  let isDown = true
  let tries = 0
  const calling = procedure({ name: 'calling' }, async (ctx) => {
    await ctx.step(
      'call',
      () => {
        tries++
        if (isDown) throw new Error('503 Service Unavailable')
      },
      { retry },
    )
  })
  await using engine = await testEngine({ procedures: [calling] })
  const run = await engine.run(calling, undefined, { id: 'calling:1' })
  await engine.advance('30m')
  const entryOf = async () => (await engine.log(run.id)).execution_log[0]
  expect(await entryOf()).toEqual({
    ...{ position: 0, type: 'step', name: 'call', status: 'open', result: null },
    ...{ timestamp: '2026-01-01T00:00:00.000Z', duration_ms: 0 },
    attempts: [
      {
        ...{ attempt: 1, timestamp: '2026-01-01T00:00:00.000Z', duration_ms: expect.any(Number) },
        error: { name: 'Error', message: '503 Service Unavailable', code: undefined },
      },
    ],
    next_attempt_at: '2026-01-01T01:00:00.000Z',
  })
  await engine.advance('29h')
  const later = await entryOf()
  expect(tries).toBe(30)
  expect(later?.attempts?.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 20 }, (_, n) => n + 11))
  isDown = false
  await engine.advance('2h')
  await run.result()
  const settled = await entryOf()
  expect(settled).toMatchObject({ status: 'done', result: {} })
  expect(settled?.attempts?.at(-1)).toMatchObject({ attempt: 30 })
  expect(settled).not.toHaveProperty('next_attempt_at')
})

test('an entry of a step that was not retried names no attempts', async () => {
  const plain = procedure({ name: 'plain' }, (ctx) => ctx.step('call', () => 1))
  await using engine = await testEngine({ procedures: [plain] })
  const run = await engine.run(plain)
  await run.result()
  expect((await engine.log(run.id)).execution_log[0]).not.toHaveProperty('attempts')
})
