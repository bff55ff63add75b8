import { createClient, createEngine, procedure } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { expect, onTestFinished, test } from 'vitest'
import { keepLines } from '../semantics/support.ts'
import { InterposedPool } from '../support/interposed-pool.ts'
import { changeUrl, makeDatabase } from '../support/postgres-database.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const nap = procedure({ name: 'nap' }, (ctx) => ctx.sleep('1ms'))

test('a connection that is refused for a moment does not end a start', async () => {
  const database = await makeDatabase()
  const pool = new InterposedPool(database.url)
  onTestFinished(async () => {
    await pool.end()
    await database.remove()
  })
  let isRegistered = false
  let refused = 0
  pool.onQuery = async (text, go) => {
    const done = await go()
    if (/insert into .*workers/s.test(text)) isRegistered = true
    return done
  }
  pool.onConnect = async () => {
    if (!isRegistered || refused > 0) return
    refused++
    throw Object.assign(new Error('sorry, too many clients already'), { code: '53300', severity: 'FATAL' })
  }
  const { logger } = keepLines()
  const store = postgres({ pool }, { notifications: false })
  const engine = await createEngine({ store, procedures: [nap], logger })
  expect(refused).toBe(1)
  await (await engine.run(nap)).result()
  await engine.stop()
})

test('whichever statement of a start the connections break at, the engine starts and works', async () => {
  const database = await makeDatabase()
  const { port } = new URL(database.url)
  const proxy = await TcpProxy.start({ targetPort: Number(port) })
  onTestFinished(async () => {
    await proxy.stop()
    await database.remove()
  })
  const client = createClient({ store: postgres(database.url) })
  onTestFinished(() => client.stop())
  const { logger, lines } = keepLines()

  /** Starts an engine whose connections all break at that statement. Returns how many statements there were. */
  async function startBrokenAt(broken: number): Promise<number> {
    let count = 0
    proxy.decide = (text) => {
      if (text === '' || ++count !== broken) return 'pass'
      setImmediate(() => proxy.cut())
      return broken % 2 === 0 ? 'lose' : 'swallow'
    }
    const { id } = await client.run(nap, undefined, { id: `nap ${broken}` })
    const store = postgres(changeUrl(database.url, { port: proxy.port }), { notifications: false })
    const engine = await createEngine({ store, procedures: [nap], logger })
    const atStart = count
    await engine.get(id).result()
    await engine.stop()
    return atStart
  }

  const count = await startBrokenAt(Number.POSITIVE_INFINITY)
  expect(count).toBeGreaterThan(6)
  for (let broken = 1; broken <= count; broken++) await startBrokenAt(broken)
  expect(lines).toContainEqual(
    expect.objectContaining({ message: expect.stringContaining('Store did not answer') }),
  )
})
