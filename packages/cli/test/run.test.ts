import { expect, test } from 'vitest'
import { createWorkspace } from './support/workspace.ts'

test('run prints the checkpoint, and resume answers it and prints the result', async () => {
  using workspace = await createWorkspace({ typescript: true })
  const started = await workspace.pawl('run', 'greet', '--input', '{"name":"Ada"}', '--id', 'greet:1')
  expect(started.status).toBe(3)
  expect(started.stderr).toBe('  Loading procedures.ts...\n  Running greet:1...\n')
  const [, checkpoint = ''] = /^ {2}Checkpoint: ([0-9a-f]{16})$/m.exec(started.stdout) ?? []
  expect(started.stdout).toBe(
    [
      '  Suspended at checkpoint',
      `  Checkpoint: ${checkpoint}`,
      '',
      '  Question',
      '  | Greet Ada?',
      '  Run',
      '  | greet:1 (greet)',
      '  Values',
      '  | name: Ada',
      `  pawl resume ${checkpoint} --resolution '{"decision":"approve"}'`,
      '',
    ].join('\n'),
  )
  const resumed = await workspace.pawl('resume', checkpoint, '--resolution', '{"decision":"approve"}')
  expect(resumed).toEqual({
    status: 0,
    stdout: '  "Hello, Ada"\n',
    stderr: expect.stringContaining(`  Resumed at checkpoint ${checkpoint}\n  Completed\n`),
  })
})

test.each([
  ['completed', ['run', 'add'], 0],
  ['failed', ['run', 'fail'], 1],
  ['an unknown procedure', ['run', 'none'], 4],
  ['an unknown run', ['show', 'none'], 4],
  ['an unknown flag', ['ls', '--nothing'], 2],
  ['input that is not JSON', ['run', 'add', '--input', '{'], 2],
  ['no answer without a terminal', ['answer', 'none/0'], 4],
  ['an unreachable server', ['ls', '--server', 'http://127.0.0.1:9'], 7],
])('exits by what came of it: %s', async (_what, args, status) => {
  using workspace = await createWorkspace()
  await workspace.pawl('migrate')
  const ran = await workspace.pawl(...args)
  expect(ran.status, ran.stderr).toBe(status)
  const inJson = await workspace.pawl(...args, '--json')
  expect(inJson.status).toBe(status)
  if (!args.includes('--nothing')) JSON.parse(inJson.stdout)
})

test('run works on the children of a run, and shows the asks at which they wait', async () => {
  using workspace = await createWorkspace()
  expect(await workspace.pawl('run', 'tree')).toMatchObject({ status: 0 })
  const asked = await workspace.pawl('run', 'delegate', '--id', 'asks:1')
  expect(asked).toMatchObject({ status: 3, stdout: expect.stringContaining('Where to?') })
  const checkpoint = /Checkpoint: (\S+)/.exec(asked.stdout)?.[1] ?? ''
  expect(await workspace.pawl('answer', checkpoint, '--choice', 'north')).toMatchObject({ status: 0 })
  expect(await workspace.pawl('run', 'delegate', '--id', 'asks:1')).toMatchObject({
    status: 0,
    stdout: '  "north"\n',
  })
})

test('an ask is shown whole, and is found by the key of its run', async () => {
  using workspace = await createWorkspace()
  const asked = await workspace.pawl('run', 'edit', '--id', 'e/1')
  expect(asked.stdout).toContain('  For review\n  | {\n  |   "tag": "v1"\n  | }\n')
  const [{ id, key }] = JSON.parse((await workspace.pawl('inbox', '--json')).stdout) as [
    { id: string; key?: string },
  ]
  expect((await workspace.pawl('show', id)).stdout).toContain('"tag": "v1"')
  expect(JSON.parse((await workspace.pawl('show', id, '--json')).stdout)).toMatchObject({
    artifact: { tag: 'v1' },
  })
  expect(key).toBeUndefined()

  await workspace.pawl('run', 'greet', '--input', '{"name":"Ada"}', '--id', 'g/1')
  expect((await workspace.pawl('show', 'g/1/greet')).stdout).toContain('  | name: Ada\n')
  expect(await workspace.pawl('answer', 'g/1/greeting', '--approve')).toMatchObject({
    status: 4,
    stderr: expect.stringContaining('`pawl inbox` lists the open asks.'),
  })
  expect(await workspace.pawl('answer', 'g/1/greet', '--approve')).toMatchObject({ status: 0 })
})
