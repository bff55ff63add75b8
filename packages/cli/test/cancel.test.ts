import { expect, test } from 'vitest'
import { createWorkspace } from './support/workspace.ts'

test('cancel stores the reason, and the next worker ends the run', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'greet', '--input', '{"name":"Ada"}', '--id', 'greet:1')
  const unsure = await workspace.pawl('cancel', 'greet:1')
  expect(unsure).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') })
  const args = ['cancel', 'greet:1', '--reason', 'she has left', '--yes']
  expect(await workspace.pawl(...args)).toMatchObject({
    status: 0,
    stderr: '  The cancel of run greet:1 is stored: running\n',
  })
  const shown = await workspace.pawl('show', 'greet:1', '--json')
  expect(JSON.parse(shown.stdout)).toMatchObject({
    ...{ status: 'running', cancelReason: 'she has left' },
    cancelledBy: expect.stringMatching(/^user:./),
  })
  expect(await workspace.pawl('cancel', 'nowhere', '--yes')).toMatchObject({ status: 4 })
})

test('run --cancel-after cancels a run that has not ended by then', async () => {
  using workspace = await createWorkspace()
  const greet = ['run', 'greet', '--input', '{"name":"Ada"}', '--id', 'greet:1']
  expect(await workspace.pawl(...greet, '--cancel-after', '1ms', '--detach')).toMatchObject({ status: 0 })
  await workspace.pawl(...greet)
  const shown = await workspace.pawl('show', 'greet:1', '--json')
  expect(JSON.parse(shown.stdout)).toMatchObject({ status: 'cancelled', cancelReason: 'timed out' })
  expect(await workspace.pawl(...greet, '--cancel-after', 'soon')).not.toMatchObject({ status: 0 })
})

test('run and ls say why a run was cancelled, and by whom', async () => {
  using workspace = await createWorkspace()
  const greet = ['run', 'greet', '--input', '{"name":"Ada"}', '--id', 'greet:1']
  await workspace.pawl(...greet)
  await workspace.pawl('cancel', 'greet:1', '--reason', 'she has left', '--yes')
  expect(await workspace.pawl(...greet)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/cancelled: she has left, by user:\S+\n/),
  })
  expect((await workspace.pawl('ls')).stdout).toMatch(/^cancelled\t.*\tshe has left, by user:\S+$/m)
})

test('delete removes a run that has ended, and refuses one that has not', async () => {
  using workspace = await createWorkspace()
  const greet = ['run', 'greet', '--input', '{"name":"Ada"}', '--id', 'greet:1']
  await workspace.pawl(...greet, '--cancel-after', '1ms', '--detach')
  expect(await workspace.pawl('delete', 'greet:1', '--yes')).toMatchObject({
    stderr: expect.stringContaining('cannot be deleted'),
  })
  await workspace.pawl(...greet)
  expect(await workspace.pawl('delete', 'greet:1')).toMatchObject({ status: 2 })
  expect(await workspace.pawl('delete', 'greet:1', '--yes')).toMatchObject({
    status: 0,
    stderr: '  Run greet:1 is deleted\n',
  })
  expect(await workspace.pawl('show', 'greet:1')).toMatchObject({ status: 4 })
})
