import { setTimeout as sleep } from 'node:timers/promises'
import { createEngine, type Engine, procedure } from '@pawl/core'
import { consoleLogger } from '@pawl/core/internal'
import { postgres } from '@pawl/storage-postgres'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { startBareEngine, withoutPolls } from '../support/bare-engine.ts'
import { InterposedPool } from '../support/interposed-pool.ts'
import { makeDatabase, type TestDatabase } from '../support/postgres-database.ts'

// What happens between a statement and its reply: messages that meet a run as it is let go, a stop while the
// listener is away.

const receiving = procedure({ name: 'receiving', signals: { x: z.number() } }, (ctx) => ctx.receive('x'))
/** Long enough for a reply that is not held back to be heard first. */
const heldBackMs = 50

let database: TestDatabase
let pool: InterposedPool
let engine: Engine | undefined
beforeEach(async () => {
  database = await makeDatabase()
  pool = new InterposedPool(database.url)
})
afterEach(async () => {
  await engine?.stop({ within: '1s' })
  engine = undefined
  await pool.end()
  await database.remove()
})

const isPark = (text: string): boolean => text.includes('parks')
const isSend = (text: string): boolean => text.includes('insert into "pawl"."messages"')

interface Event {
  readonly promise: Promise<void>
  readonly happen: () => void
}

function makeEvent(): Event {
  let happen = (): void => {}
  const promise = new Promise<void>((resolve) => {
    happen = resolve
  })
  return { promise, happen }
}

test.each(['park', 'message'])(
  'a message that comes right behind the park of its run wakes it at once, also if the reply to the %s is heard last',
  async (last) => {
    const bare = await startBareEngine({
      store: postgres({ pool }),
      procedures: [receiving],
      keep: { runs: 100, bytes: 1e6 },
      logger: consoleLogger,
      clock: withoutPolls,
    })
    for (let i = 0; i < 3; i++) {
      const [isSent, isParked] = [makeEvent(), makeEvent()]
      pool.onQuery = async (text, go) => {
        if (!isPark(text) && !isSend(text)) return go()
        if (isPark(text)) isSent.happen()
        else await isParked.promise
        const reply = await go()
        if (isPark(text)) isParked.happen()
        if (isPark(text) === (last === 'park')) await sleep(heldBackMs)
        return reply
      }
      const run = await bare.client.run(receiving)
      await isSent.promise
      await run.signal('x', i)
      expect(await run.result()).toBe(i)
    }
    await bare.stop()
  },
)

test('a run that a message claims keeps its owner when the reply to its park comes after that', async () => {
  let begun = 0
  const working = procedure({ name: 'working', signals: { x: z.number() } }, async (ctx) => {
    await ctx.receive('x')
    // Longer than it takes the worker to compare what it owns with what the store says.
    await ctx.step('work', async () => {
      begun++
      await sleep(3_000)
    })
  })
  const isParked = makeEvent()
  pool.onQuery = async (text, go) => {
    if (isSend(text)) await isParked.promise
    const reply = await go()
    if (isPark(text)) isParked.happen()
    if (isPark(text)) await sleep(300)
    return reply
  }
  engine = await createEngine({ store: postgres({ pool }), procedures: [working] })
  const run = await engine.run(working)
  // Before the run is let go, as far as this process knows.
  await run.signal('x', 1)
  await run.result()
  expect(begun).toBe(1)
})

test('an engine that is stopped while its listener connects anew stops', async () => {
  engine = await createEngine({ store: postgres({ pool }), procedures: [receiving] })
  const terminate =
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen %'"
  await expect.poll(async () => (await database.owner.query(terminate)).rows.length).toBe(1)
  const isConnecting = makeEvent()
  // The listener's: it begins at once.
  pool.onConnect = async () => {
    pool.onConnect = async () => {}
    isConnecting.happen()
    await sleep(300)
  }
  await isConnecting.promise
  await engine.stop()
})
