import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Ask, createClient } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/bundle.ts'

/** A fork of an earlier release, which kept the answer at position 9 without its question, and has edited it. */
const [original, fork, answered] = ['forked later after 21', 'forked later after 21 fork', 9] as const

test('the question of an answer that a fork of an earlier release has kept is found in its original, while that exists', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'forks.db')
  await copyFile(new URL('./logs/0.1.0-forks.db', import.meta.url).pathname, file)
  const client = await createClient({ store: sqlite(file) })
  const edit = { [answered]: { approved: true } }
  const asks: Ask[] = []
  const preview = () =>
    client.previewFork(fork, { position: 11 }, { edit, checkAnswer: (ask) => void asks.push(ask) })
  expect((await preview()).operations).toMatchObject([{ position: answered, becomes: 'edited' }, {}, {}])
  expect(asks).toMatchObject([{ run: fork, key: 'end', message: 'End with 3?', status: 'answered', to: [] }])
  await expect(
    client.fork(fork, { position: 11 }, { edit: { [answered]: { approved: 'yes' } } }),
  ).rejects.toMatchObject({ code: 'answer-invalid' })
  await client.delete(original)
  await expect(preview()).rejects.toMatchObject({
    code: 'option-invalid',
    message: expect.stringContaining(`without its question, and run ${original}, of which ${fork} is a fork`),
  })
  expect((await client.previewFork(fork, { position: answered })).operations).not.toEqual([])
  await client.stop()
  await rm(folder, { recursive: true })
})
