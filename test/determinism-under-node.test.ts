import { spawnSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { bundle } from './support/bundle.ts'

test('checkDeterminism is one line under node:test, with inputs of fast-check', async () => {
  const program = await bundle(fileURLToPath(new URL('./programs/node-tests.ts', import.meta.url)))
  onTestFinished(() => rm(dirname(program), { recursive: true }))
  const args = ['--test', '--test-reporter=tap', program]
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(stdout).toMatch(/^\s*ok 1 - sound replays$/m)
  expect(stdout).toMatch(/^\s*not ok 2 - counting replays$/m)
  expect(stdout).toContain("code: 'nondeterminism'")
  expect(status).toBe(1)
})
