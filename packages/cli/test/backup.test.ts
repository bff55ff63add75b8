import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createWorkspace } from './support/workspace.ts'

test('backup copies a store while a run is at work, and the copy continues by itself', async () => {
  using workspace = await createWorkspace()
  const { folder, env, program } = workspace
  const run = [...program, 'run', 'ledger', '--id', 'l:1', '--follow', '--json']
  const child = spawn(process.execPath, run, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  child.stdout.resume()
  const made = await workspace.pawl('backup', 'copy.db')
  expect(made).toMatchObject({ status: 0, stdout: '' })
  expect(made.stderr).toMatch(/^ {2}copy\.db is a verified copy with 1 run, \d+ bytes\n$/)
  expect(await ended).toEqual([0, null])
  const copied = await workspace.pawl('run', 'ledger', '--id', 'l:1', '--store', 'copy.db')
  expect(copied, copied.stderr).toMatchObject({ status: 0, stdout: '  12\n' })
  expect(readdirSync(folder).filter((name) => name.startsWith('copy.db.'))).toEqual([])
})

test('backup replaces a file with --force only, and says what it did as JSON', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'add', '--id', 'a:1')
  expect(await workspace.pawl('backup', 'copy.db')).toMatchObject({ status: 0 })
  const again = await workspace.pawl('backup', 'copy.db')
  expect(again).toMatchObject({ status: 2, stderr: expect.stringContaining('copy.db exists.') })
  const forced = await workspace.pawl('backup', 'copy.db', '--force', '--json')
  expect(JSON.parse(forced.stdout)).toEqual({ file: 'copy.db', runs: 1, bytes: expect.any(Number) })
})

test('backup names the tools of PostgreSQL, and a store that is not there', async () => {
  using workspace = await createWorkspace()
  const ran = await workspace.pawl('backup', 'copy.db', '--store', 'postgres://u:secret@127.0.0.1/x')
  expect(ran).toMatchObject({ status: 2, stderr: expect.stringContaining('`pg_dump') })
  expect(ran.stderr).not.toContain('secret')
  const none = await workspace.pawl('backup', 'copy.db', '--store', 'none.db')
  expect(none).toMatchObject({ status: 7, stderr: expect.stringContaining('There is no file') })
  expect(readdirSync(workspace.folder)).not.toContain('copy.db')
})
