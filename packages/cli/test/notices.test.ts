import type { NoticeJson } from '@pawl/server'
import { expect, test } from 'vitest'
import { createWorkspace } from './support/workspace.ts'

test('show has a row for what was undone, and for each undo that failed', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'telling', '--id', 't:1')
  const { stdout } = await workspace.pawl('show', 't:1')
  const rows = stdout.split('\n').map((line) => line.split('\t'))
  expect(rows).toContainEqual(['undone', 'pack'])
  expect(rows).toContainEqual(['undo failed', expect.stringMatching(/^charge: .*the bank says no/)])
  expect(rows.map(([name]) => name)).not.toContain('not undone')
})

test('ls --rollback failed finds the runs whose undo failed', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'telling', '--id', 't:1')
  await workspace.pawl('run', 'fail', '--id', 'f:1')
  const { stdout } = await workspace.pawl('ls', '--rollback', 'failed', '--json')
  expect(JSON.parse(stdout).map(({ id }: { readonly id: string }) => id)).toEqual(['t:1'])
})

test('notices lists what people are told, the newest first, and --read marks it', async () => {
  using workspace = await createWorkspace()
  expect((await workspace.pawl('notices')).stdout).toBe('')
  await workspace.pawl('run', 'telling', '--id', 't:1')
  const listed = await workspace.pawl('notices')
  const rows = listed.stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t').slice(2))
  expect(rows).toEqual([
    ['critical', 't:1', 'group:money', 'unread', expect.stringContaining('The undo of "charge" failed'), ''],
    [
      'warning',
      't:1',
      'group:ops',
      'unread',
      'Order 7 is late',
      expect.stringContaining('Reason: no stock;'),
    ],
  ])
  const json = JSON.parse((await workspace.pawl('notices', '--run', 't:1', '--limit', '1', '--json')).stdout)
  expect(json).toMatchObject([{ kind: 'failed-undo', severity: 'critical', run: 't:1', isRead: false }])
  expect(await workspace.pawl('notices', '--read')).toMatchObject({ status: 0 })
  expect((await workspace.pawl('notices')).stdout.match(/\tread\t/g)).toHaveLength(2)
  expect((await workspace.pawl('notices', '--unread')).stdout).toBe('')
})

test('notices shows the id of a notice, and the beginning of its details and links', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'telling', '--id', 't:1')
  const [, notice] = JSON.parse((await workspace.pawl('notices', '--json')).stdout) as readonly NoticeJson[]
  const [, line] = (await workspace.pawl('notices')).stdout.split('\n').map((text) => text.split('\t'))
  expect(line?.at(0)).toBe(notice?.id)
  const cut = `${'x'.repeat(199)}…`
  const shops = Array.from({ length: 8 }, (_, n) => `Shop ${n}: ${cut}`)
  expect(line?.at(-1)?.split('; ')).toEqual([
    ...['Reason: no stock', 'Stock: {"seven":0}', ...shops],
    '… 2 more: --json shows them',
  ])
})
