import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandsInNeed, expectUnusable, nowhere, playOnServer, scriptNames } from './support/doors.ts'
import { createWorkspace } from './support/workspace.ts'

test.each(scriptNames)('%s: a server says what a store says, and exits alike', async (name) => {
  const golden = join(import.meta.dirname, `golden/${name}.txt`)
  expect(await playOnServer(name)).toBe(readFileSync(golden, 'utf8'))
})

test.each(Object.entries(nowhere))(
  'exits with 7 on %s, for every command that needs it, in both formats',
  async (_what, where) => {
    using workspace = await createWorkspace()
    for (const command of commandsInNeed) {
      await expectUnusable(workspace, [...command, ...where])
      await expectUnusable(workspace, [...command, ...where, '--json'])
    }
  },
)
