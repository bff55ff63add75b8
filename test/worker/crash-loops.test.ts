import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/bundle.ts'
import { type PoisonScene, preparePoison } from '../support/poison.ts'

// Real processes on a real file. How suspects are found is tested in virtual time in packages/testing/test/crash-loops; more runs, and
// the control, are in the long form.

async function prepare(runs: number): Promise<PoisonScene> {
  const folder = await temporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  return preparePoison(join(folder, 'poison.db'), runs)
}

describe('among runs whose steps take long, one that kills its process', () => {
  test('a run that kills its process among runs with long steps is quarantined after about log2(n) deaths, and completes once fixed and retried', async () => {
    const { client, ids, startWorker, find, untilQuarantined } = await prepare(8)
    const poison = 'run 5'
    // Two make suspects, one blames them all, three halve them, four more are over it alone. A process that the machine
    // held up for a second may have blamed the wrong half.
    expect(await untilQuarantined(poison)).toBeLessThanOrEqual(2 + 1 + 3 + 4 + 2)
    expect(await find(poison)).toMatchObject({ mark: 'quarantined', cause: 'crashes' })

    const others = startWorker({ POISON: poison, FINISHES: '1' })
    for (const id of ids.filter((one) => one !== poison)) expect(await client.get(id).result()).toBe('done')
    expect(await client.get(poison).status()).toMatchObject({
      status: 'quarantined',
      failure: { message: expect.stringContaining('died 5 times while it was the only suspect running') },
    })
    await others.kill()

    startWorker({ FINISHES: '1' })
    await client.retry(poison)
    expect(await client.get(poison).result()).toBe('done')
  })
})

test('five SIGKILLs during one step quarantine none of its runs', async () => {
  const { client, ids, startWorker, find } = await prepare(10)
  for (let kills = 0; kills < 5; kills++) {
    const worker = startWorker({})
    // A step has begun.
    await worker.ready()
    await worker.kill()
  }
  startWorker({ FINISHES: '1' })
  for (const id of ids) expect(await client.get(id).result()).toBe('done')
  const rows = await Promise.all(ids.map(find))
  expect(new Set(rows.map(({ mark }) => mark))).toEqual(new Set(['none']))
})
