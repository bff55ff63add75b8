import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Transcript } from './support/transcript.ts'
import { createWorkspace, type Workspace } from './support/workspace.ts'

/** The id of the only open ask of a run. */
async function askOf(workspace: Workspace, run: string): Promise<string> {
  const { stdout } = await workspace.pawl('inbox', '--run', run, '--json')
  return JSON.parse(stdout)[0].id as string
}

test('check prints what the golden file says, and exits as it says', async () => {
  // The module of procedures is changed on the way, and each command loads it anew.
  using workspace = await createWorkspace({ processes: true })
  await workspace.pawl('run', 'changing', '--id', 'c:1')
  await workspace.pawl('run', 'pick', '--id', 'p:1', '--tag', 'eu')
  await workspace.pawl('run', 'add', '--id', 'a:1')
  const transcript = new Transcript(workspace)
  await transcript.run('check')
  await transcript.run('check', '--json')
  writeFileSync(join(workspace.folder, 'changed'), '')
  const before = await workspace.pawl('show', 'c:1')
  await transcript.run('check')
  await transcript.run('check', '--json', '--procedure', 'changing')
  await transcript.run('check', '--tag', 'eu')
  await transcript.run('check', 'p:1')
  await transcript.run('check', 'a:1')
  await transcript.run('check', 'x:1')
  await transcript.run('check', 'x:1', '--json')
  await transcript.run('check', '--status', 'asleep')
  await transcript.run('check', 'p:1', '--tag', 'eu')
  await transcript.run('check', '--limit', '0')
  expect(await workspace.pawl('show', 'c:1')).toEqual(before)

  await workspace.pawl('run', 'changed', '--id', 'v:1')
  writeFileSync(join(workspace.folder, 'offered'), '')
  await workspace.pawl('run', 'changed', '--id', 'v:2')
  await transcript.run('check', '--procedure', 'changed')
  await transcript.run('check', 'v:1', '--json')
  await workspace.pawl('answer', await askOf(workspace, 'v:1'), '--choice', 'yes')
  await workspace.pawl('run', 'changed', '--id', 'v:1')
  await transcript.run('check', '--procedure', 'changed')
  await transcript.run('check', '--procedure', 'changed', '--limit', '9')

  const file = join(workspace.folder, 'procedures.js')
  const code = readFileSync(file, 'utf8')
  writeFileSync(file, code.replace('Where to?', 'Which way?'))
  await transcript.run('check', '--procedure', 'pick')
  await expect(transcript.text).toMatchFileSnapshot('golden/check.txt')
})

test('check needs a store, since the code is here', async () => {
  using workspace = await createWorkspace()
  expect(await workspace.pawl('check', '--server', 'http://127.0.0.1:1')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--store'),
  })
})
