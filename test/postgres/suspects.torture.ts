import { expect, onTestFinished, test } from 'vitest'
import { preparePoison } from '../support/poison.ts'
import { makeDatabase } from '../support/postgres-database.ts'

test('a run that kills its process is quarantined after about log2(n) deaths, and the others complete', async () => {
  const database = await makeDatabase()
  onTestFinished(() => database.remove())
  const { client, ids, startWorker, find, untilQuarantined } = await preparePoison(database.url, 8)
  const poison = 'run 5'
  expect(await untilQuarantined(poison)).toBeLessThanOrEqual(2 + 1 + 3 + 4 + 2)
  expect(await find(poison)).toMatchObject({ mark: 'quarantined', cause: 'crashes' })
  startWorker({ POISON: poison, FINISHES: '1' })
  for (const id of ids.filter((one) => one !== poison)) expect(await client.get(id).result()).toBe('done')
})
