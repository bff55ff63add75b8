import { expect, test } from 'vitest'
import { createWorkspace } from './support/workspace.ts'

const greeting = ['greet', '--input', '{"name":"Ada"}']

test.each([
  ['a yes by name', greeting, { decision: 'approve' }, { approved: true }],
  [
    'a yes with an edit',
    greeting,
    { decision: 'approve', params: { name: 'Bob' } },
    { approved: true, params: { name: 'Bob' } },
  ],
  ['a no by name', greeting, { decision: 'reject', comment: 'no' }, { approved: false, comment: 'no' }],
  ['an approval as the ask takes it', greeting, { approved: true }, { approved: true }],
  ['a choice by name', ['pick'], { decision: 'south' }, { choice: 'south' }],
  ['a choice as the ask takes it', ['pick'], { choice: 'north' }, { choice: 'north' }],
  ['a value', ['enter'], { value: 'Ada' }, { value: 'Ada' }],
  [
    'a review with an edit',
    ['review'],
    { decision: 'approve', artifact: 'new' },
    { choice: 'approve', artifact: 'new' },
  ],
  ['the choice of an escalation', ['escalate'], { decision: 'continue' }, { choice: 'continue' }],
] as const)('pawl resume takes %s as a resolution', async (_what, run, resolution, answer) => {
  using workspace = await createWorkspace()
  expect((await workspace.pawl('run', ...run, '--id', 'r:1')).status).toBe(3)
  const given = ['--resolution', JSON.stringify(resolution), '--as', 'user:ana']
  const resumed = await workspace.pawl('resume', 'r:1/0', ...given)
  expect(resumed.status, resumed.stderr).toBe(0)
  const asks = await workspace.pawl('inbox', '--json')
  expect(JSON.parse(asks.stdout)).toEqual([])
  const log = JSON.parse((await workspace.pawl('log', 'r:1', '--json')).stdout)
  expect(JSON.stringify(log)).toContain('user:ana')
  for (const part of Object.keys(answer)) expect(JSON.stringify(log)).toContain(`"${part}"`)
})

test('pawl resume refuses a decision that the ask does not have, and leaves it open', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'pick', '--id', 'r:1')
  const refused = await workspace.pawl('resume', 'r:1/0', '--resolution', '{"decision":"west"}')
  expect(refused.status).toBe(5)
  expect(JSON.parse((await workspace.pawl('inbox', '--json')).stdout)).toMatchObject([{ status: 'open' }])
})
