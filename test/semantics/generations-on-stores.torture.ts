import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { onTestFinished, test } from 'vitest'
import { playRounds } from '../support/rounds.ts'

/** 10,000 generations of three signals, an answer and a child each, unless ROUNDS says otherwise. */
const signals = 3 * Number(process.env['ROUNDS'] ?? 10_000)

test('nothing is lost in 10,000 generations, in memory', () => playRounds(memory(), signals, false))

test('nothing is lost in 10,000 generations, in SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-rounds-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await playRounds(sqlite(join(folder, 'pawl.db')), signals, false)
})
