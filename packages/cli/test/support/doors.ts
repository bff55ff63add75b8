import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { Transcript } from './transcript.ts'
import { createWorkspace, serve, type Workspace } from './workspace.ts'

type Script = (transcript: Transcript, workspace: Workspace, reload: () => Promise<unknown>) => Promise<void>

/** The id of the only open ask of a run. */
async function askOf(workspace: Workspace, run: string): Promise<string> {
  const { stdout } = await workspace.pawl('inbox', '--run', run, '--json')
  return JSON.parse(stdout)[0].id as string
}

/** What is run against a store and against a server. */
const scripts: Readonly<Record<string, Script>> = {
  async run(transcript) {
    await transcript.run('run', 'add', '--id', 'a:1')
    await transcript.run('run', 'add', '--id', 'a:1', '--json')
    await transcript.run('run', 'fail', '--id', 'f:1', '--tag', 'eu')
    await transcript.run('run', 'fail', '--id', 'f:1', '--json', '--tag', 'eu')
    await transcript.run('run', 'greet', '--input', '{"name":"Ada"}', '--id', 'g:1')
    await transcript.run('run', 'greet', '--input', '{"name":"Ada"}', '--id', 'g:1', '--json')
    await transcript.run('run', 'greet', '--input', '{"name":"Bob"}', '--id', 'g:1')
    await transcript.run('run', 'greet', '--input', '{', '--id', 'g:2')
    await transcript.run('run', 'nap', '--id', 'n:1', '--timeout', '10ms')
    await transcript.run('run', 'nap', '--id', 'n:1', '--timeout', '10ms', '--json')
    await transcript.run('run', 'nap', '--timeout', 'soon')
    await transcript.run('run', 'add', '--id', 'a:2', '--follow')
  },
  async transfer(transcript, workspace) {
    await workspace.pawl('run', 'add', '--id', 'a:1')
    await workspace.pawl('run', 'greet', '--input', '{"name":"Ada"}', '--id', 'g:1')
    await transcript.run('export', 'a:1', 'a.pawl')
    await transcript.run('export', 'a:1', 'a.pawl')
    await transcript.run('export', 'a:1', 'a.pawl', '--force', '--json')
    await transcript.run('export', 'x:1', 'x.pawl')
    await transcript.run('export', 'g:1', 'g.pawl')
    await transcript.run('import', 'a.pawl')
    await transcript.run('import', 'a.pawl', '--id', 'a:2')
    await transcript.run('show', 'a:2')
    await transcript.run('import', 'g.pawl', '--id', 'g:2')
    await transcript.run('import', 'package.json')
    await transcript.run('import', 'package.json', '--json')
    await transcript.run('import', 'missing.pawl')
    await workspace.pawl('delete', 'a:1', '--yes')
    await transcript.run('import', 'a.pawl')
  },
  async look(transcript, workspace) {
    await workspace.pawl('run', 'add', '--id', 'a:1')
    await workspace.pawl('run', 'fail', '--id', 'f:1', '--tag', 'eu')
    await workspace.pawl('run', 'greet', '--input', '{"name":"Ada"}', '--id', 'g:1')
    await transcript.run('ls')
    await transcript.run('ls', '--tag', 'eu', '--json')
    await transcript.run('ls', '--status', 'stuck')
    await transcript.run('ls', '--status', 'asleep')
    await transcript.run('ls', '--limit', '0', '--json')
    await transcript.run('show', 'f:1')
    await transcript.run('show', 'g:1')
    await transcript.run('show', 'a:1', '--json')
    await transcript.run('show', 'x:1')
    await transcript.run('show', 'x:1', '--json')
    await transcript.run('log', 'a:1')
    await transcript.run('log', 'f:1', '--failed')
    await transcript.run('log', 'a:1', '--json')
    await transcript.run('log', 'x:1')
    await transcript.run('inbox')
    await transcript.run('inbox', '--to', 'group:ops')
    await transcript.run('inbox', '--json')
    await transcript.run('log', 'f:1', '--follow')
    await transcript.run('log', 'f:1', '--follow', '--json')
    await transcript.run('log', 'x:1', '--follow')
    await transcript.run('show', 'a:1', '--follow')
  },
  async answer(transcript, workspace) {
    await workspace.pawl('run', 'pick', '--id', 'p:1')
    await workspace.pawl('run', 'enter', '--id', 'e:1')
    await workspace.pawl('run', 'greet', '--input', '{"name":"Ada"}', '--id', 'g:1')
    const [pick, enter, greet] = await Promise.all(['p:1', 'e:1', 'g:1'].map((run) => askOf(workspace, run)))
    await transcript.run('answer')
    await transcript.run('answer', 'none/0', '--approve')
    await transcript.run('answer', 'none/0', '--approve', '--json')
    await transcript.run('answer', pick as string)
    await transcript.run('answer', pick as string, '--choice', 'west', '--json')
    await transcript.run('answer', pick as string, '--choice', 'north', '--as', 'user:ana')
    await transcript.run('answer', pick as string, '--choice', 'south', '--as', 'user:bob')
    await transcript.run('answer', pick as string, '--choice', 'south', '--as', 'user:bob', '--json')
    await transcript.run('answer', enter as string, '--value', '7')
    await transcript.run('answer', enter as string, '--value', '"Ada"', '--as', 'user:ana', '--json')
    await transcript.run('resume', greet as string, '--resolution', '{"decision":"maybe"}')
    await transcript.run('resume', greet as string, '--resolution', '{"decision":"approve"}', '--approve')
    await transcript.run('resume', greet as string, '--resolution', '{"decision":"approve"}')
    await transcript.run('resume', greet as string, '--reject', '--json')
  },
  async change(transcript, workspace) {
    await workspace.pawl('run', 'wait', '--id', 'w:1', '--detach')
    await workspace.pawl('run', 'pick', '--id', 'p:1', '--tag', 'eu')
    await workspace.pawl('run', 'pick', '--id', 'p:2', '--tag', 'eu')
    await workspace.pawl('run', 'add', '--id', 'a:1')
    await transcript.run('signal', 'w:1', 'go', '--payload', '{')
    await transcript.run('signal', 'w:1', 'go', '--payload', '7', '--key', 'k')
    await transcript.run('run', 'wait', '--id', 'w:1')
    await transcript.run('signal', 'w:1', 'go', '--payload', '8', '--json')
    await transcript.run('signal', 'x:1', 'go', '--payload', '8')
    await transcript.run('cancel', 'p:1')
    await transcript.run('cancel', 'p:1', '--json')
    await transcript.run('cancel')
    await transcript.run('cancel', 'p:1', '--tag', 'eu', '--yes')
    await transcript.run('cancel', '--tag', 'us', '--yes')
    await transcript.run('cancel', '--tag', 'eu')
    await transcript.run('cancel', 'x:1', '--yes', '--json')
    await transcript.run('retry', 'a:1')
    await transcript.run('retry', 'a:1', 'x:1')
    await transcript.run('retry', 'a:1', 'x:1', '--json')
    await transcript.run('retry', '--status', 'stuck', '--yes')
  },
  async fork(transcript, workspace) {
    await workspace.pawl('run', 'add', '--id', 'a:1')
    await workspace.pawl('run', 'greet', '--input', '{"name":"Ada"}', '--id', 'g:1')
    await workspace.pawl('run', 'fixable', '--id', 'm:1')
    await transcript.run('fork', 'a:1', '--at', '0', '--preview')
    await transcript.run('fork', 'a:1', '--at', '0', '--preview', '--json')
    await transcript.run('fork', 'g:1', '--at', '0', '--preview')
    await transcript.run('fork', 'a:1', '--at', '1', '--edit', '0=7', '--preview')
    expect(await workspace.pawl('fork', 'a:1', '--at', '0', '--preview', '--id', 'a:9')).toMatchObject({
      status: 0,
    })
    expect(await workspace.pawl('show', 'a:9')).toMatchObject({ status: 4 })
    await workspace.pawl('fork', 'a:1', '--at', '1', '--edit', '0=7', '--id', 'a:2')
    await transcript.run('run', 'add', '--id', 'a:2')
    await transcript.run('show', 'a:2')
    await transcript.run('fork', 'a:1', '--at', '0', '--id', 'a:2')
    await transcript.run('fork', 'a:1', '--at', '0', '--edit', '0=7')
    await transcript.run('fork', 'a:1', '--at', 'end')
    await transcript.run('fork', 'a:1')
    await transcript.run('fork', 'a:1', '--at', '1', '--checkpoint', '5f0c19d2a7b3e864')
    await workspace.pawl('run', 'pick', '--id', 'k:1')
    const ask = await askOf(workspace, 'k:1')
    await transcript.run('fork', 'k:1', '--checkpoint', ask, '--preview')
    const made = await workspace.pawl('fork', 'k:1', '--checkpoint', ask, '--id', 'k:2')
    expect(made).toMatchObject({ stdout: 'k:2\n', stderr: expect.stringContaining(`from checkpoint ${ask}`) })
    await transcript.run('fork', 'k:1', '--at', '0', '--id', 'k:2')
    await transcript.run('fork', 'a:1', '--at', '1', '--edit', '0={')
    await transcript.run('fork', 'x:1', '--at', '1')
    await transcript.run('retry', 'a:1', '--preview')
    await transcript.run('retry', 'm:1', '--preview')
    await transcript.run('retry', 'm:1', '--preview', '--json')
    writeFileSync(join(workspace.folder, 'fixed'), '')
    await workspace.pawl('retry', 'm:1')
    await transcript.run('run', 'fixable', '--id', 'm:1')
  },
  async checkpoints(transcript, workspace) {
    await workspace.pawl('migrate')
    await transcript.run('checkpoints', 'ls')
    await workspace.pawl('run', 'save', '--id', 's:1')
    await workspace.pawl('run', 'save', '--id', 's:2')
    await transcript.run('checkpoints', 'ls', 's:1')
    await transcript.run('checkpoints', '--json', 'ls')
    await transcript.run('checkpoints', 'ls', 'x:1')
    const { stdout } = await workspace.pawl('checkpoints', 'ls', 's:1', '--json')
    const [, begun] = JSON.parse(stdout) as { readonly id: string }[]
    await transcript.run('checkpoints', 'show', begun?.id ?? '')
    await transcript.run('checkpoints', 'show', 's:1', '--json')
    await transcript.run('checkpoints', 'show', 'x:1')
    await transcript.run('checkpoints', 'rm', begun?.id ?? '')
    await transcript.run('checkpoints', 'rm', begun?.id ?? '', '--json')
    await transcript.run('checkpoints', 'cleanup')
    await transcript.run('checkpoints', 'cleanup', '--keep', 'all')
    await transcript.run('checkpoints', 'cleanup', '--keep', '1')
    await transcript.run('checkpoints', 'cleanup', '--older-than', 'soon')
    await transcript.run('checkpoints', 'cleanup', '--only-finished', '--json')
    await transcript.run('checkpoints', 'rm', 's:2')
  },
  async stuck(transcript, workspace, reload) {
    await workspace.pawl('run', 'changing', '--id', 'c:1')
    const ask = await askOf(workspace, 'c:1')
    writeFileSync(join(workspace.folder, 'changed'), '')
    await reload()
    await transcript.run('resume', ask, '--choice', 'yes')
    await transcript.run('show', 'c:1')
    await transcript.run('ls', '--status', 'stuck')
    await transcript.run('retry', '--status', 'stuck')
    expect(await workspace.pawl('retry', '--status', 'stuck', '--yes')).toMatchObject({ status: 0 })
  },
}

export const scriptNames: readonly string[] = Object.keys(scripts)

/** Runs a script on a store, and returns what was printed. */
export async function playOnStore(name: string): Promise<string> {
  // What a stuck run says names a place in the code, which the loader of the tests moves.
  using workspace = await createWorkspace({ processes: name === 'stuck' })
  const transcript = new Transcript(workspace)
  await scripts[name]?.(transcript, workspace, async () => {})
  return transcript.text
}

/** Runs a script against a server, and returns what was printed. */
export async function playOnServer(name: string): Promise<string> {
  using workspace = await createWorkspace()
  await using served = await serve(workspace)
  const transcript = new Transcript(served)
  await scripts[name]?.(transcript, served, async () => {
    const file = join(workspace.folder, 'procedures.js')
    writeFileSync(file, readFileSync(file))
    await served.dev.line(/procedures\.js changed/)
    await served.dev.line(/Working\./)
  })
  return transcript.text
}

/** The commands that need a store or a server. */
export const commandsInNeed: readonly (readonly string[])[] = [
  ['run', 'add'],
  ['resume', 'a/0', '--approve'],
  ['answer', 'a/0', '--approve'],
  ['inbox'],
  ['ls'],
  ['show', 'a'],
  ['log', 'a'],
  ['log', 'a', '--follow'],
  ['signal', 'a', 'go'],
  ['retry', 'a'],
  ['cancel', 'a', '--yes'],
  ['doctor'],
]

export const nowhere: Readonly<Record<string, readonly string[]>> = {
  'a server that is not there': ['--server', 'http://127.0.0.1:9'],
  'a store that cannot be opened': ['--store', '/nowhere/pawl.db'],
}

export async function expectUnusable(workspace: Workspace, args: readonly string[]): Promise<void> {
  const ran = await workspace.pawl(...args)
  expect(ran.status, `${args.join(' ')}: ${ran.stderr}`).toBe(7)
  if (args.includes('--json') && args[0] !== 'doctor')
    expect(JSON.parse(ran.stdout)).toMatchObject({ code: 'store-unusable' })
}
