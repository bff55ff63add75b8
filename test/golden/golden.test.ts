import { copyFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../support/bundle.ts'
import { exportsFolder, importRuns } from './exports.ts'
import { finishRuns } from './finish.ts'

const logs = new URL('./logs/', import.meta.url).pathname
const files = (await readdir(logs)).filter((name) => name.endsWith('.db'))

test('there are logs of a version', () => {
  expect(files).not.toEqual([])
})

describe.each(files)('runs that version %s left behind', (name) => {
  test('runs of earlier releases resume, complete and repeat no step', async () => {
    const folder = await temporaryFolder()
    const file = join(folder, name)
    await copyFile(join(logs, name), file)
    const { complaints, problems, recorded, done } = await finishRuns(() => sqlite(file))
    await rm(folder, { recursive: true })
    expect(complaints).toEqual([])
    expect(problems).toEqual([])
    const least = name.includes('versions') ? 10 : /ends|together|lives|forks/.test(name) ? 50 : 100
    expect(recorded.length).toBeGreaterThan(least)
    expect(done.filter((step) => recorded.includes(step))).toEqual([])
    expect(done.length).toBeGreaterThan(least)
  })
})

describe.each(await readdir(exportsFolder))('runs that were exported as %s', (name) => {
  test('files of earlier releases are imported, and their runs complete and repeat no step', async () => {
    const folder = await temporaryFolder()
    const open = () => sqlite(join(folder, 'imported.db'))
    const { runs, checkpoints } = await importRuns(name, open())
    expect(runs).toBeGreaterThan(10)
    expect(checkpoints > 0).toBe(!name.endsWith('before-checkpoints'))
    const { complaints, problems, recorded, done } = await finishRuns(open)
    await rm(folder, { recursive: true })
    expect(complaints).toEqual([])
    expect(problems).toEqual([])
    expect(recorded.length).toBeGreaterThan(10)
    expect(done.filter((step) => recorded.includes(step))).toEqual([])
  })
})
