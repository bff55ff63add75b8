import { tmpdir, userInfo } from 'node:os'
import { expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { findLinter } from '../src/commands/doctor.ts'
import { createWorkspace, serve, type Workspace } from './support/workspace.ts'

test('lists, shows and logs runs tab-separated in a pipe, and as JSON', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'add', '--id', 'a:1')
  await workspace.pawl('run', 'fail', '--id', 'f:1', '--tag', 'eu')
  const listed = await workspace.pawl('ls')
  expect(listed.stdout.split('\n').map((line) => line.split('\t').slice(0, 3))).toEqual([
    ['failed', 'f:1', 'fail v1'],
    ['completed', 'a:1', 'add v1'],
    [''],
  ])
  expect(JSON.parse((await workspace.pawl('ls', '--tag', 'eu', '--json')).stdout)).toMatchObject([
    { id: 'f:1' },
  ])
  expect((await workspace.pawl('show', 'f:1')).stdout).toContain('status\tfailed\n')
  expect((await workspace.pawl('log', 'a:1')).stdout).toMatch(/^0\tstep\tadd\tdone\t\d+ ms\t2\n$/)
  expect((await workspace.pawl('log', 'f:1', '--failed')).stdout).toMatch(/^0\tstep\tfail\tfailed/)
})

test('log --failed finds failed entries before many that are not', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'early', '--id', 'e:1')
  const { stdout } = await workspace.pawl('log', 'e:1', '--failed', '--limit', '1')
  expect(stdout).toMatch(/^0\tstep\tfail\tfailed.*\n$/)
})

test('sends a signal once per key', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'wait', '--id', 'w:1', '--detach')
  const sent = await workspace.pawl('signal', 'w:1', 'go', '--payload', '7', '--key', 'k')
  expect(sent, sent.stderr).toMatchObject({ status: 0 })
  const again = await workspace.pawl('run', 'wait', '--id', 'w:1')
  expect(again).toMatchObject({ status: 0, stdout: '  7\n' })
  expect(await workspace.pawl('signal', 'w:1', 'go', '--payload', '8')).toMatchObject({ status: 5 })
})

test('makes a token that a server accepts, and forgets it when it is revoked', async () => {
  using workspace = await createWorkspace()
  const made = await workspace.pawl('token', 'make', 'user:ana', '--role', 'watch')
  expect(made.stdout.trim()).toMatch(/^[\w-]{43}$/)
  const listed = await workspace.pawl('token', 'ls')
  expect(listed.stdout).toMatch(/^[0-9a-f]{12}\tuser:ana\twatch\t-\t\n$/)
  expect(listed.stdout).not.toContain(made.stdout.trim())
  const prefix = listed.stdout.slice(0, 12)
  expect(await workspace.pawl('token', 'revoke', prefix)).toMatchObject({ status: 0 })
  expect((await workspace.pawl('token', 'ls')).stdout).toBe('')
})

test('doctor says what was found, where, and what is missing', async () => {
  using workspace = await createWorkspace()
  const ran = await workspace.pawl('doctor', '--json')
  expect(JSON.parse(ran.stdout)).toMatchObject([
    { what: 'node' },
    { what: 'config', says: 'none' },
    { what: 'store', ok: true, says: expect.stringContaining('pawl.db (default)') },
    { what: 'procedures', ok: true, says: expect.stringMatching(/add v1, .*changing v1/) },
    { what: 'server', says: expect.stringContaining('none') },
    // The workspace is within the project, which has it.
    { what: 'lint', says: '@pawl/eslint-plugin' },
  ])
  const missing = await workspace.pawl('doctor', '--store', '/nowhere/pawl.db')
  expect(missing).toMatchObject({ status: 7, stdout: expect.stringContaining('FAIL  store') })
  expect(findLinter(tmpdir())).toBe('none: @pawl/eslint-plugin finds mistakes of procedures in the editor')
})

test('show --tree prints a run and all runs below it', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'tree', '--id', 'tree:1')
  expect(await workspace.pawl('show', 'tree:1', '--tree')).toMatchObject({
    status: 0,
    stdout: [
      'tree:1  completed  tree v1',
      '├─ branch:1  completed  branch v1',
      '│  └─ leaf:1  completed  leaf v1',
      '└─ leaf:2  completed  leaf v1',
      '',
    ].join('\n'),
  })
  expect(JSON.parse((await workspace.pawl('show', 'tree:1', '--tree', '--json')).stdout)).toMatchObject({
    run: { id: 'tree:1' },
    children: [{ run: { id: 'branch:1' }, children: [{ run: { id: 'leaf:1' } }] }, { children: [] }],
  })
  expect((await workspace.pawl('show', 'leaf:1')).stdout).toContain('child of\tbranch:1\n')
})

/** Asks one person, another one, and everybody. Returns whose questions `--mine` lists. */
async function listMine(workspace: Workspace, me: string): Promise<readonly string[]> {
  for (const [id, to] of [['me', me], ['bob', 'user:bob'], ['everyone']])
    await workspace.pawl('run', 'pass', '--input', JSON.stringify({ to }), '--id', `to:${id}`)
  const all = JSON.parse((await workspace.pawl('inbox', '--json')).stdout) as readonly unknown[]
  expect(all).toHaveLength(3)
  const mine = await workspace.pawl('inbox', '--mine', '--json')
  expect(mine, mine.stderr).toMatchObject({ status: 0 })
  return (JSON.parse(mine.stdout) as readonly { readonly run: string }[]).map(({ run }) => run).sort()
}

test('inbox --mine lists what waits for the user of this system, of a store', async () => {
  using workspace = await createWorkspace()
  const me = `user:${userInfo().username}`
  expect(await listMine(workspace, me)).toEqual(['to:everyone', 'to:me'])
})

test('inbox --mine lists what waits for the owner of the token, of a server', async () => {
  using workspace = await createWorkspace()
  await using served = await serve(workspace)
  expect(await listMine(served, 'user:me')).toEqual(['to:everyone', 'to:me'])
})

test('prints its version, as text and as JSON', async () => {
  using workspace = await createWorkspace()
  const { version } = manifest
  expect(await workspace.pawl('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
  const both = `pawl ${version}\nnode ${process.versions.node}\n`
  expect(await workspace.pawl('version')).toEqual({ status: 0, stdout: both, stderr: '' })
  const { stdout } = await workspace.pawl('version', '--json')
  expect(JSON.parse(stdout)).toEqual({ version, node: process.versions.node })
})
