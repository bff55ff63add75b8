import { createEngine, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines } from '../semantics/support.ts'
import { startBareEngine } from '../support/bare-engine.ts'

const { logger } = keepLines()
let begun: string[] = []

/** Waits for words, and keeps them in a variable: what a continuation holds and a replay must find again. */
const listening = procedure(
  { name: 'listening', signals: { say: z.string(), noise: z.string() } },
  async (ctx) => {
    begun.push(ctx.runId)
    const received: string[] = []
    while (received.length < 3) received.push(await ctx.receive('say'))
    return received
  },
)

const rests = async (run: { status(): Promise<{ readonly status: string }> }): Promise<void> => {
  while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setImmediate(resolve))
}

/**
 * Says three words to each of `count` runs, in turn, after `noise` that none listens to; returns how often a procedure
 * was begun.
 */
async function converse(
  keep: { readonly runs: number; readonly bytes: number },
  count: number,
  noise?: string,
): Promise<number> {
  begun = []
  const { client, stop } = await startBareEngine({ store: memory(), procedures: [listening], keep, logger })
  const runs = await Promise.all(Array.from({ length: count }, () => client.run(listening)))
  await Promise.all(runs.map(rests))
  if (noise !== undefined) {
    await Promise.all(runs.map((run) => run.signal('noise', noise)))
    await Promise.all(runs.map(rests))
  }
  for (const word of ['a', 'b', 'c'])
    for (const run of runs) {
      await run.signal('say', word)
      if (word !== 'c') await rests(run)
    }
  for (const run of runs) expect(await run.result()).toEqual(['a', 'b', 'c'])
  await stop()
  return begun.length
}

describe('continuations of waiting runs', () => {
  test('waiting runs are kept in memory: a message is delivered without a replay', async () => {
    expect(await converse({ runs: 100, bytes: 1_000_000 }, 4)).toBe(4)
  })

  test('waiting runs are replayed at each message if there is no room, with the same results', async () => {
    expect(await converse({ runs: 0, bytes: 1_000_000 }, 4)).toBe(4 + 4 * 3)
  })

  test('kept runs are dropped for others, the longest parked first', async () => {
    // Spoken to in turn, with room for three of four: always the one is gone that is spoken to next, until the
    // first has ended and makes room.
    expect(await converse({ runs: 3, bytes: 1_000_000 }, 4)).toBe(4 + 4 + 4 + 1)
    expect(await converse({ runs: 4, bytes: 1_000_000 }, 4)).toBe(4)
  })

  test('kept runs are dropped by their size in bytes', async () => {
    expect(await converse({ runs: 100, bytes: 1 }, 4)).toBeGreaterThan(4)
  })

  test('kept runs are dropped by the bytes of their unread messages', async () => {
    const keep = { runs: 100, bytes: 100_000 }
    expect(await converse(keep, 4, 'x'.repeat(1_000))).toBe(4)
    expect(await converse(keep, 4, 'x'.repeat(100_001))).toBe(4 + 4 * 3)
  })
})

describe('a kept continuation', () => {
  test('a kept run is not used after another worker has advanced it', async () => {
    begun = []
    const store = memory()
    const one = await startBareEngine({
      store,
      procedures: [listening],
      keep: { runs: 10, bytes: 1_000_000 },
      logger,
    })
    const run = await one.client.run(listening)
    await rests(run)
    // Another process is quicker with the next one.
    const other = await createEngine({ store, procedures: [listening], logger })
    await other.get(listening, run.id).signal('say', 'elsewhere')
    await rests(other.get(run.id))
    expect((await one.client.log(run.id)).replay_index).toBe(1)
    await other.stop()
    await run.signal('say', 'here')
    await rests(run)
    await run.signal('say', 'again')
    expect(await run.result()).toEqual(['elsewhere', 'here', 'again'])
    expect(begun.length).toBeGreaterThanOrEqual(2)
    await one.stop()
  })

  test('a kept run is released when the worker stops, and another worker resumes it', async () => {
    begun = []
    const store = memory()
    const one = await startBareEngine({
      store,
      procedures: [listening],
      keep: { runs: 10, bytes: 1_000_000 },
      logger,
    })
    const run = await one.client.run(listening)
    await rests(run)
    await one.stop()
    const two = await startBareEngine({
      store,
      procedures: [listening],
      keep: { runs: 10, bytes: 1_000_000 },
      logger,
    })
    const again = two.client.get(listening, run.id)
    for (const word of ['a', 'b', 'c']) await again.signal('say', word)
    expect(await again.result()).toEqual(['a', 'b', 'c'])
    expect(begun).toHaveLength(2)
    await two.stop()
  })
})
