import { expect, test } from 'vitest'
import { createWorkspace, serve } from './support/workspace.ts'

test('show, result and state print what a run was given, exposes and returned', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'told', '--input', '{"color":"red"}', '--id', 't:1')
  const live = await workspace.pawl('show', 't:1')
  expect(live.stdout).toContain('input\t{"color":"red"}\n')
  expect(live.stdout).toContain('state color\t"red"\n')
  expect(live.stdout).not.toContain('output')
  expect(await workspace.pawl('state', 't:1', 'color')).toMatchObject({ status: 0, stdout: '"red"\n' })
  expect((await workspace.pawl('state', 't:1')).stdout).toMatch(/^color\t\S+\t"red"\n$/)
  expect(await workspace.pawl('state', 't:1', 'size')).toMatchObject({
    status: 4,
    stderr: expect.stringContaining('It exposes: color.'),
  })
  expect(await workspace.pawl('result', 't:1')).toMatchObject({ status: 3 })

  await workspace.pawl('signal', 't:1', 'stop')
  await workspace.pawl('run', 'told', '--input', '{"color":"red"}', '--id', 't:1')
  expect(await workspace.pawl('result', 't:1')).toMatchObject({ status: 0, stdout: '  "stopped red"\n' })
  expect(JSON.parse((await workspace.pawl('show', 't:1', '--json')).stdout)).toMatchObject({
    status: 'completed',
    values: {
      input: { color: 'red' },
      output: 'stopped red',
      exposed: [{ name: 'color', value: 'red' }],
      omitted: [],
    },
  })
  expect(JSON.parse((await workspace.pawl('ls', '--json')).stdout)[0]).not.toHaveProperty('values')

  await workspace.pawl('run', 'fail', '--id', 'f:1')
  expect(await workspace.pawl('result', 'f:1')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('no'),
  })
  expect(await workspace.pawl('result', 'none')).toMatchObject({ status: 4 })
  expect(await workspace.pawl('workers')).toMatchObject({ status: 0, stdout: '' })
})

test('update prints the reply of a run, result waits for its end, and workers lists who works', async () => {
  using workspace = await createWorkspace()
  await using served = await serve(workspace)
  await served.pawl('run', 'told', '--input', '{"color":"red"}', '--id', 't:1')
  expect(await served.pawl('update', 't:1', 'paint', '--input', '"blue"', '--key', 'k')).toMatchObject({
    status: 0,
    stdout: '"red"\n',
  })
  expect(await served.pawl('update', 't:1', 'paint', '--input', '"green"', '--key', 'k')).toMatchObject({
    stdout: '"red"\n',
  })
  expect(await served.pawl('state', 't:1', 'color')).toMatchObject({ stdout: '"blue"\n' })
  expect((await served.pawl('workers')).stdout).toMatch(/told v1/)
  await served.pawl('signal', 't:1', 'stop')
  expect(await served.pawl('result', 't:1', '--timeout', '60s')).toMatchObject({
    stdout: '  "stopped blue"\n',
  })
})
