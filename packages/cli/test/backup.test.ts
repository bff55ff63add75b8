import { spawn } from 'node:child_process'
import { on, once } from 'node:events'
import { readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../../test/support/sqlite.ts'
import { createWorkspace, stop } from './support/workspace.ts'

test('backup copies a store while a run is at work, which continues in the copy', async () => {
  using workspace = await createWorkspace()
  const { folder, env, program } = workspace
  const start = (...args: readonly string[]) =>
    spawn(process.execPath, [...program, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
  const child = start('run', 'held', '--id', 'h:1', '--follow', '--json')
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  // The first step is recorded, and the second one is held.
  await once(child.stdout, 'data')
  child.stdout.resume()
  const made = await workspace.pawl('backup', 'copy.db')
  expect(made).toMatchObject({ status: 0, stdout: '' })
  expect(made.stderr).toMatch(/^ {2}copy\.db is a verified copy with 1 run, \d+ bytes\n$/)
  writeFileSync(join(folder, 'open'), '')
  expect(await ended).toEqual([0, null])
  const readCopy = async (command: string) =>
    JSON.parse((await workspace.pawl(command, 'h:1', '--store', 'copy.db', '--json')).stdout)
  expect(await readCopy('log')).toMatchObject([{ type: 'step', name: 'first' }])
  expect(await readCopy('show')).toMatchObject({ status: 'running' })
  const worker = start('worker', '--store', 'copy.db')
  onTestFinished(() => void worker.kill('SIGKILL'))
  const followed = await workspace.pawl('show', 'h:1', '--store', 'copy.db', '--follow')
  expect(followed, followed.stderr).toMatchObject({ status: 0 })
  expect(await readCopy('show')).toMatchObject({ status: 'completed' })
  await stop(worker)
  // Only the step that was at work at the copy ran again.
  const steps = readFileSync(join(folder, 'ledger'), 'utf8').trim().split('\n')
  expect(steps).toEqual(['first', 'second', 'second'])
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

test('Ctrl-C ends a backup that waits for the store, and leaves nothing behind', async () => {
  using workspace = await createWorkspace()
  const { folder, env, program } = workspace
  await workspace.pawl('run', 'add', '--id', 'a:1')
  const holder = connect(join(folder, 'pawl.db'))
  onTestFinished(() => void holder.close())
  holder.pragma('locking_mode = exclusive')
  holder.exec('begin exclusive')
  const created = firstOf(folder, /^copy\.db\./)
  const args = [...program, 'backup', 'copy.db', '--json']
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close')
  const printed = text(child.stdout)
  await created
  child.kill('SIGINT')
  expect(await ended).toEqual([130, null])
  expect(JSON.parse(await printed)).toMatchObject({ title: 'interrupted' })
  expect(readdirSync(folder).filter((name) => name.startsWith('copy.db'))).toEqual([])
})

/** Waits for a file of that name. */
async function firstOf(folder: string, name: RegExp): Promise<void> {
  const watcher = watch(folder)
  try {
    for await (const [, found] of on(watcher, 'change') as AsyncIterable<[string, string]>)
      if (name.test(found)) return
  } finally {
    watcher.close()
  }
}

test('backup explains a target that cannot be written, also as JSON', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'add', '--id', 'a:1')
  for (const [target, reason] of [
    ['missing/copy.db', /The directory .*missing does not exist/],
    ['pawl.db/copy.db', /The directory .*pawl\.db does not exist/],
    ['.git', /\.git is not a file/],
  ] as const) {
    const ran = await workspace.pawl('backup', target, '--force')
    expect(ran).toMatchObject({ status: 7, stdout: '', stderr: expect.stringMatching(reason) })
    const json = await workspace.pawl('backup', target, '--force', '--json')
    expect(json).toMatchObject({ status: 7, stderr: '' })
    expect(JSON.parse(json.stdout)).toMatchObject({
      code: 'store-unusable',
      detail: expect.stringMatching(reason),
    })
  }
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
