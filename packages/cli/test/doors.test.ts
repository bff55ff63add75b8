import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  commandsInNeed,
  expectUnusable,
  nowhere,
  playOnServer,
  playOnStore,
  scriptNames,
} from './support/doors.ts'
import { createWorkspace } from './support/workspace.ts'

// Every command is run against a store and against a server. Both transcripts are compared with the same file. What takes long of
// the server's is in doors.torture.ts.

test.each(scriptNames)('%s: a store says what the transcript says, and exits alike', async (name) => {
  await expect(await playOnStore(name)).toMatchFileSnapshot(`golden/${name}.txt`)
})

test.each(['run', 'stuck'])('%s: a server says what a store says, and exits alike', async (name) => {
  const golden = join(import.meta.dirname, `golden/${name}.txt`)
  expect(await playOnServer(name)).toBe(readFileSync(golden, 'utf8'))
})

test('cancels several runs, and names each that is refused', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'pick', '--id', 'p:1', '--tag', 'eu')
  await workspace.pawl('run', 'pick', '--id', 'p:2', '--tag', 'eu')
  await workspace.pawl('run', 'add', '--id', 'a:1')
  const cancelled = await workspace.pawl('cancel', 'p:1', 'x:1', 'a:1', '--yes', '--json')
  expect(cancelled.status).toBe(4)
  expect(JSON.parse(cancelled.stdout)).toMatchObject([
    { id: 'p:1', cancelRequestedAt: expect.anything() },
    { id: 'x:1', problem: { code: 'run-not-found' } },
    { id: 'a:1' },
  ])
  const filtered = await workspace.pawl('cancel', '--tag', 'eu', '--reason', 'over', '--yes')
  expect(filtered.status, filtered.stderr).toBe(0)
  expect(filtered.stderr).toContain('The cancel of run p:2 is stored')
  expect(filtered.stderr).not.toContain('a:1')
})

// The other half of the formats is in doors.torture.ts.
test.each(Object.entries(nowhere).map(([what, where], index) => [what, where, index] as const))(
  'exits with 7 on %s, for every command that needs it',
  async (_what, where, turn) => {
    using workspace = await createWorkspace()
    for (const [index, command] of commandsInNeed.entries())
      await expectUnusable(workspace, [...command, ...where, ...((index + turn) % 2 === 0 ? ['--json'] : [])])
  },
)
