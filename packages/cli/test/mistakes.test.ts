import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWorkspace } from './support/workspace.ts'

const mistakes: readonly (readonly [command: string, says: RegExp])[] = [
  ['run', /missing required argument 'procedure'/],
  ['rum', /unknown command 'rum'.*Did you mean run/s],
  ['help nix', /unknown command 'nix'/],
  ['run add --inptu 1', /unknown option '--inptu'.*Did you mean --input/s],
  ['ls extra', /too many arguments/],
  ['inbox --limit 0', /--limit.*from 1 to 500/],
  ['ls --limit many', /--limit.*from 1 to 500/],
  ['ls --status foo', /`--status`: .*"running"/],
  ['export a:1', /missing required argument 'file'/],
  ['export a:1 --file a.pawl', /The file is an argument: `pawl export <run> <file>`/],
  ['token ls --file empty.json', /The file of tokens is `--tokens <file>`/],
  ['checkpoints', /not complete|Usage: pawl checkpoints/],
  ['completion tcsh', /Allowed choices are bash, zsh, fish/],
  ['ls --server nonsense', /The server must be an address such as http/],
  ['ls --server ftp://127.0.0.1', /The server must be an address such as http/],
  ['run add --procedures none.ts', /There is no file .*none\.ts/],
  ['token ls --tokens empty.json', /empty\.json is not a token file: it must hold `tokens`/],
  ['token ls --tokens odd.json', /odd\.json is not a token file/],
  ['token make user:ana --tokens none/t.json', /t\.json cannot be written: ENOENT/],
  ['server --port 99999', /port of createServer.*99999.*from 0 to 65535/],
]

test.each(mistakes)(
  'pawl %s: the mistake is named as text and as JSON, with status 2',
  async (command, says) => {
    using workspace = await createWorkspace()
    await workspace.pawl('migrate')
    writeFileSync(join(workspace.folder, 'empty.json'), '{}')
    writeFileSync(join(workspace.folder, 'odd.json'), '{"tokens":[1]}')
    const args = command.split(' ')
    const text = await workspace.pawl(...args)
    expect(text).toMatchObject({ status: 2, stdout: '', stderr: expect.stringMatching(says) })
    const json = await workspace.pawl(...args, '--json')
    expect(json.status).toBe(2)
    // Of the API, whose parameters have other names.
    const detail = (JSON.parse(json.stdout) as { readonly detail: string }).detail
    expect(detail.replace(/query\.(\w+)\.0/, '`--$1`')).toMatch(says)
  },
)

test('a port that another program uses is named', async () => {
  using workspace = await createWorkspace()
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { readonly port: number }
  const ran = await workspace.pawl('server', '--port', String(port))
  other.close()
  expect(ran).toMatchObject({ status: 2, stderr: expect.stringContaining('Another program listens there.') })
})

test('what was revoked and what was resumed is told as JSON', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('token', 'make', 'user:ana')
  const [{ hash }] = JSON.parse((await workspace.pawl('token', 'ls', '--json')).stdout) as [{ hash: string }]
  const revoked = await workspace.pawl('token', 'revoke', hash, '--json')
  expect(JSON.parse(revoked.stdout)).toEqual({ revoked: 'user:ana' })

  await workspace.pawl('run', 'pick', '--id', 'p:1')
  const resumed = await workspace.pawl('resume', 'p:1/0', '--choice', 'north', '--detach', '--json')
  expect(JSON.parse(resumed.stdout)).toMatchObject({ ask: { run: 'p:1', status: 'answered' } })
})

test('the help of a verb below another names the options of both', async () => {
  using workspace = await createWorkspace()
  const { stdout, status } = await workspace.pawl('checkpoints', 'cleanup', '--help')
  expect(status).toBe(0)
  expect(stdout).toContain('--older-than')
  expect(stdout).toContain('--store')
  expect(await workspace.pawl('help', 'run')).toEqual(await workspace.pawl('run', '--help'))
})

test.each([
  ['--help', 0],
  ['inbox --follow', 130],
])('pawl %s: ends without an error once the reader of its pipe has gone', async (command, status) => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'pick', '--id', 'p:1')
  const { folder, env, program } = workspace
  const child = spawn(process.execPath, [...program, ...command.split(' ')], {
    ...{ cwd: folder, env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  expect([...(await once(child, 'close')), stderr]).toEqual([status, null, ''])
})
