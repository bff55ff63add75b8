import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/bundle.ts'
import { type PoisonScene, preparePoison } from '../support/poison.ts'

async function prepare(runs: number): Promise<PoisonScene> {
  const folder = await temporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  return preparePoison(join(folder, 'poison.db'), runs)
}

test('a run that kills its process among 24 is quarantined after about log2(n) deaths', async () => {
  const { find, untilQuarantined } = await prepare(24)
  // Two make suspects, one blames them all, five halve them, four more are over it alone. A process that the machine
  // held up for a second may have blamed the wrong half.
  expect(await untilQuarantined('run 13')).toBeLessThanOrEqual(2 + 1 + 5 + 4 + 2)
  expect(await find('run 13')).toMatchObject({ mark: 'quarantined', cause: 'crashes' })
})

test('control: a run that kills its process is not found if suspects are never told apart', async () => {
  const { ids, startWorker, find } = await prepare(24)
  for (let deaths = 0; deaths < 20; deaths++) await startWorker({ POISON: 'run 13', TOGETHER: '1' }).ended()
  // The last one is still taken for alive.
  for (const id of ids) expect(await find(id)).toMatchObject({ mark: 'none', tries: 19 })
})
