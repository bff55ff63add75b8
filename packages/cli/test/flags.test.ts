import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createProgram } from '../src/command-line.ts'
import { createWorkspace, startServing, stop, type Workspace } from './support/workspace.ts'

/** A line of each command that is right but for the common flags. */
const lines: Readonly<Record<string, string>> = {
  run: 'run add',
  resume: 'resume a:1/0 --approve',
  answer: 'answer a:1/0 --approve',
  inbox: 'inbox',
  ls: 'ls',
  notices: 'notices',
  show: 'show a:1',
  log: 'log a:1',
  signal: 'signal a:1 go',
  result: 'result a:1',
  state: 'state a:1',
  update: 'update a:1 rename',
  workers: 'workers',
  cancel: 'cancel a:1 --yes',
  retry: 'retry a:1',
  fork: 'fork a:1 --at 0',
  delete: 'delete a:1 --yes',
  export: 'export a:1 b.pawl',
  import: 'import a.pawl',
  backup: 'backup b.db',
  check: 'check a:1',
  checkpoints: 'checkpoints ls',
  explore: 'explore add',
  dev: 'dev --port 99999',
  worker: 'worker --concurrency 1',
  server: 'server --port 99999',
  token: 'token ls',
  doctor: 'doctor',
  migrate: 'migrate',
  completion: 'completion bash',
  version: 'version',
  help: 'help run',
}

/** Common flags with a value that cannot be used, and what a command says that tries. */
const flags: Readonly<Record<string, readonly [args: readonly string[], tried: RegExp]>> = {
  server: [['--server', 'nonsense'], /The server must be an address/],
  store: [['--store', '/nowhere/pawl.db'], /nowhere/],
  procedures: [['--procedures', 'none.ts'], /There is no file .*none\.ts/],
  config: [['--config', 'none.ts'], /There is no file .*none\.ts/],
  token: [['--token', 'secret'], /`--token` belongs to a server/],
}

const stream = { write: () => true }
const program = createProgram({ stdout: stream, stderr: stream }, async () => {})
const commands = program.createHelp().visibleCommands(program)

test('each command has a line here', () => {
  expect(commands.map((command) => command.name()).sort()).toEqual(Object.keys(lines).sort())
})

/** These serve with a store or procedures that they cannot use. A test below sees that they use what works. */
const servedFlags = ['dev --store', 'dev --procedures', 'server --store']

test.for(
  Object.keys(lines)
    .flatMap((name) => Object.keys(flags).map((flag) => [name, flag] as const))
    .filter(([name, flag]) => !servedFlags.includes(`${name} --${flag}`)),
)('pawl %s uses --%s, or refuses it', async ([name, flag], { skip }) => {
  skip(name === 'help', 'help has no common flags')
  using workspace = await createWorkspace()
  writeFileSync(join(workspace.folder, 'a.pawl'), '')
  await workspace.pawl('migrate')
  const [args, tried] = flags[flag] as (typeof flags)[string]
  const ran = await workspace.pawl(...(lines[name] as string).split(' '), ...args)
  const said = ran.stdout + ran.stderr
  const option = commands.find((one) => one.name() === name)?.options.find(({ long }) => long === `--${flag}`)
  expect(ran.status, said).toBeGreaterThan(0)
  if (option?.hidden === true) expect(said).toContain(`\`pawl ${name}\` does not use \`--${flag}\`.`)
  else expect(said).toMatch(tried)
})

test.for(['dev', 'server'] as const)('pawl %s serves the store of --store', async (name) => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'add', '--id', 'a:1', '--store', 'other.db')
  const { child, origin, headers } = await startServing(name, workspace, '--store', 'other.db')
  onTestFinished(() => void child.kill('SIGKILL'))
  const reply = await fetch(`${origin}/v1/runs/a:1`, { headers })
  expect(await reply.json()).toMatchObject({ id: 'a:1', status: 'completed' })
  await stop(child)
})

test('pawl dev works with the procedures of --procedures', async () => {
  using workspace = await createWorkspace()
  const dev = await startServing('dev', workspace, '--procedures', 'none.ts')
  onTestFinished(() => void dev.child.kill('SIGKILL'))
  await dev.line(/There is no file .*none\.ts/)
  await stop(dev.child)
})

test.for(Object.keys(lines))('pawl %s --json prints JSON, or refuses it', async (name, { skip }) => {
  skip(name === 'help', 'help prints text')
  using workspace = await createWorkspace()
  const ran = await workspace.pawl(...(lines[name] as string).split(' '), '--json')
  // Of the engine.
  expect(ran.stderr.replaceAll(/^\[pawl\].*\n/gm, '').replace(/^error: .*\n.*\n/, '')).toBe('')
  expect(JSON.parse(ran.stdout)).toBeTypeOf('object')
})

test('a command that works on the store itself refuses a server that the config names', async () => {
  using workspace = await createWorkspace()
  const says = 'works on the store itself'
  for (const [command, ...more] of [['migrate'], ['check'], ['backup', 'b.db']] as const) {
    const { folder } = workspace
    mkdirSync(join(folder, command))
    writeFileSync(join(folder, command, 'pawl.config.js'), "export default { remote: 'http://127.0.0.1:9' }")
    const args = ['--config', join(command, 'pawl.config.js')]
    const ran = await workspace.pawl(command, ...more, ...args)
    expect(ran).toMatchObject({ status: 2, stderr: expect.stringContaining(says) })
    expect(ran.stderr).toContain('http://127.0.0.1:9')
    const store = join(folder, 'pawl.db')
    expect(await workspace.pawl(command, ...more, ...args, '--store', store)).toMatchObject({ status: 0 })
  }
})

test.for(['migrate', 'check', 'backup b.db'])(
  'pawl %s leaves out a server only for a store that a flag or the environment names',
  async (line) => {
    using workspace = await createWorkspace()
    const remote = 'http://127.0.0.1:9'
    const configs = { store: "{ store: 'pawl.db' }", both: `{ store: 'pawl.db', remote: '${remote}' }` }
    for (const [name, config] of Object.entries(configs))
      writeFileSync(join(workspace.folder, `${name}.js`), `export default ${config}`)
    expect(await workspace.pawl('migrate')).toMatchObject({ status: 0 })
    const ran = (config: keyof typeof configs, env: Workspace['env'], ...more: readonly string[]) => {
      rmSync(join(workspace.folder, 'b.db'), { force: true })
      const args = [...line.split(' '), '--config', `${config}.js`, ...more]
      return workspace.in({ ...workspace.env, ...env }, ...args)
    }
    for (const refused of [await ran('store', { PAWL_SERVER: remote }), await ran('both', {})])
      expect(refused).toMatchObject({
        status: 2,
        stderr: expect.stringContaining(`not on the server ${remote}`),
      })
    for (const done of [
      await ran('store', {}),
      await ran('both', { PAWL_STORE: 'pawl.db' }),
      await ran('both', { PAWL_SERVER: remote, PAWL_STORE: 'pawl.db' }),
      await ran('both', { PAWL_SERVER: remote }, '--store', 'pawl.db'),
    ])
      expect(done, done.stderr).toMatchObject({ status: 0 })
  },
)

test('a flag that another one makes meaningless is refused', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('migrate')
  for (const line of [
    'ls --store a.db --server http://127.0.0.1:9',
    'run add --detach --follow',
    'run add --detach --timeout 1s',
    'show a:1 --tree --follow',
    'log a:1 --follow --limit 3',
    'inbox --follow --limit 3',
    'retry a:1 --preview --status failed',
    'retry a:1 --preview --yes',
    'resume a:1/0 --resolution {} --comment no',
    'resume a:1/0 --resolution {} --artifact 1',
    'check a:1 --status failed',
    'check a:1 --export a.pawl',
    'cancel a:1 --tag eu --yes',
  ]) {
    const ran = await workspace.pawl(...line.split(' '))
    expect(ran, line).toMatchObject({ status: 2, stdout: '' })
    expect(ran.stderr, line).toMatch(/not both|cannot be used with|needs the id of one run/)
  }
})

test('a store that is named by a flag is used, whatever server the environment names', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('migrate')
  const env = { ...workspace.env, PAWL_SERVER: 'http://127.0.0.1:9' }
  const { status, stderr } = await workspace.in(env, 'ls', '--store', 'pawl.db')
  expect(status, stderr).toBe(0)
  expect(await workspace.in(env, 'ls')).toMatchObject({ status: 7 })
})
