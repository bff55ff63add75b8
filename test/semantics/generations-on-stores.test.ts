import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'
import { playRounds } from '../support/rounds.ts'

test.each([false, true])(
  'nothing is lost between generations, in memory (cancelled: %s)',
  async (cancels) => {
    await playRounds(memory(), 60, cancels)
  },
)

test('nothing is lost between generations, in SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-rounds-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await playRounds(sqlite(join(folder, 'pawl.db')), 60, false)
  expect.assertions(3)
})
