import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createClient, type Procedure, ref } from '@pawl/core'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { sqlite } from '@pawl/storage-sqlite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { bundle, temporaryFolder } from '../support/bundle.ts'
import { WorkerProcess } from '../support/kill/worker-process.ts'

// Real processes on a real file. How suspects are found is tested in virtual time in packages/testing/test/suspects.

const work = ref<Procedure<undefined, string>>('work')

let program: string
beforeAll(async () => {
  program = await bundle(new URL('../programs/poison-worker.ts', import.meta.url).pathname)
})
afterAll(() => rm(join(program, '..'), { recursive: true }))

/** A file with runs, and workers on it that are started one after another. */
async function prepare(runs: number) {
  const file = join(await temporaryFolder(), 'poison.db')
  const client = createClient({ store: sqlite(file) })
  const port = connectTo(sqlite(file)) as StorePort
  await port.open()
  const ids = Array.from({ length: runs }, (_, index) => `run ${index}`)
  for (const id of ids) await client.run(work, undefined, { id })
  let last: WorkerProcess | undefined
  onTestFinished(async () => {
    await last?.kill()
    await client.stop()
    await port.close()
    await rm(dirname(file), { recursive: true })
  })
  return {
    ...{ client, port, ids },
    startWorker(env: Readonly<Record<string, string>>) {
      last = new WorkerProcess(program, [file], env)
      return last
    },
    find: async (id: string) => {
      const row = await port.find(id)
      if (row === null) throw new Error(`there is no ${id}`)
      return row
    },
  }
}

describe('among runs whose steps take long, one that kills its process', () => {
  test('is quarantined after about log2(n) deaths; the others complete, and it too once it is mended and retried', {
    timeout: 180_000,
  }, async () => {
    const { client, ids, startWorker, find } = await prepare(24)
    const poison = 'run 13'
    const isFound = client
      .get(poison)
      .result()
      .then(
        () => 'completed',
        (error: { readonly code: string }) => error.code,
      )
    let deaths = 0
    for (let code: string | null = null; code === null; ) {
      const worker = startWorker({ POISON: poison })
      code = await Promise.race([isFound, worker.ended().then(() => null)])
      if (code === null) deaths++
      else {
        expect(code).toBe('run-quarantined')
        await worker.kill()
      }
      expect(deaths).toBeLessThanOrEqual(20)
    }
    // Two make suspects, one blames them all, five halve them, four more are over it alone.
    expect(deaths).toBeLessThanOrEqual(2 + 1 + 5 + 4)
    expect(await find(poison)).toMatchObject({ mark: 'quarantined', cause: 'crashes' })

    startWorker({ POISON: poison, FINISHES: '1' })
    for (const id of ids.filter((one) => one !== poison))
      expect(await client.get(id).result({ timeout: '60s' })).toBe('done')
    expect(await client.get(poison).status()).toMatchObject({
      status: 'quarantined',
      failure: { message: expect.stringContaining('died 5 times while it was the only suspect at work') },
    })

    startWorker({ FINISHES: '1' })
    await client.retry(poison)
    expect(await client.get(poison).result({ timeout: '60s' })).toBe('done')
  })

  test('is not found where suspects are never told apart (control)', { timeout: 120_000 }, async () => {
    const { ids, startWorker, find } = await prepare(24)
    for (let deaths = 0; deaths < 20; deaths++) await startWorker({ POISON: 'run 13', TOGETHER: '1' }).ended()
    // The last one is still taken for alive.
    for (const id of ids) expect(await find(id)).toMatchObject({ mark: 'none', tries: 19 })
  })
})

test('ten SIGKILLs during one step quarantine none of the runs at work', { timeout: 120_000 }, async () => {
  const { client, ids, startWorker, find } = await prepare(10)
  for (let kills = 0; kills < 10; kills++) {
    const worker = startWorker({})
    // A step has begun.
    await worker.ready()
    await worker.kill()
  }
  startWorker({ FINISHES: '1' })
  for (const id of ids) expect(await client.get(id).result({ timeout: '60s' })).toBe('done')
  const rows = await Promise.all(ids.map(find))
  expect(new Set(rows.map(({ mark }) => mark))).toEqual(new Set(['none']))
})
