import { expect, test } from 'vitest'
import { createWorkspace, type Workspace } from './support/workspace.ts'

async function start(workspace: Workspace, procedure: string, ...args: readonly string[]): Promise<void> {
  const started = await workspace.pawl('run', procedure, '--id', 'r:1', ...args)
  expect(started.status, started.stderr).toBe(3)
}

test.each([
  ['approve', ['greet', '--input', '{"name":"Ada"}'], ['--approve'], { approved: true }],
  [
    'approve with an edit',
    ['greet', '--input', '{"name":"Ada"}'],
    ['--approve', '--set', 'name=Bob', '--comment', 'his name'],
    { approved: true, params: { name: 'Bob' }, comment: 'his name' },
  ],
  ['reject', ['greet', '--input', '{"name":"Ada"}'], ['--reject'], { approved: false }],
  ['input', ['enter'], ['--value', '"Ada"'], { value: 'Ada' }],
  ['select', ['pick'], ['--choice', 'south'], { choice: 'south' }],
  [
    'review',
    ['review'],
    ['--choice', 'approve', '--artifact', '"new"'],
    { choice: 'approve', artifact: 'new' },
  ],
  ['decide', ['decide'], ['--choice', 'stop'], { choice: 'stop' }],
  ['escalate', ['escalate'], ['--choice', 'continue'], { choice: 'continue' }],
])('answers by flags: %s', async (_what, run, flags, answer) => {
  using workspace = await createWorkspace()
  await start(workspace, ...(run as [string]))
  const answered = await workspace.pawl('answer', 'r:1/0', ...flags, '--as', 'user:ana', '--json')
  expect(answered.status, answered.stdout).toBe(0)
  expect(JSON.parse(answered.stdout).ask.answer).toMatchObject({ ...answer, by: 'user:ana', via: 'cli' })
})

test.each([
  ['flags of another kind', ['pick'], ['--value', '1'], /`--value` does not belong to an ask of kind select/],
  ['a choice that is not offered', ['pick'], ['--choice', 'west'], /There are: north, south/],
  ['no answer without a terminal', ['pick'], [], /`--choice` with one of north, south/],
  ['both a yes and a no', ['greet', '--input', '{"name":"A"}'], ['--approve', '--reject'], /not both/],
])('refuses %s as a mistake of usage, and leaves the ask open', async (_what, run, flags, message) => {
  using workspace = await createWorkspace()
  await start(workspace, ...(run as [string]))
  const refused = await workspace.pawl('answer', 'r:1/0', ...flags)
  expect(refused).toMatchObject({ status: 2, stdout: '', stderr: expect.stringMatching(message) })
  expect(JSON.parse((await workspace.pawl('inbox', '--json')).stdout)).toMatchObject([
    { run: 'r:1', position: 0, status: 'open' },
  ])
})

test('says who won if an ask is answered a second time', async () => {
  using workspace = await createWorkspace()
  await start(workspace, 'pick')
  await workspace.pawl('answer', 'r:1/0', '--choice', 'north', '--as', 'user:ana')
  const late = await workspace.pawl('answer', 'r:1/0', '--choice', 'south', '--as', 'user:bob')
  expect(late).toMatchObject({ status: 5, stderr: expect.stringContaining('already answered by user:ana') })
})

test('a dangerous answer needs `--yes` outside a terminal, also one that refuses, and stays open without', async () => {
  using workspace = await createWorkspace()
  await start(workspace, 'discard')
  for (const args of [
    ['answer', 'r:1/0', '--choice', 'reject'],
    ['answer', 'r:1/0', '--choice', 'approve'],
    ['resume', 'r:1/0', '--resolution', '{"decision":"reject"}'],
  ]) {
    const refused = await workspace.pawl(...args)
    expect(refused, refused.stderr).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Pass --yes'),
    })
  }
  expect(JSON.parse((await workspace.pawl('inbox', '--json')).stdout)).toMatchObject([{ status: 'open' }])
  expect(await workspace.pawl('answer', 'r:1/0', '--choice', 'reject', '--yes')).toMatchObject({ status: 0 })
})
