import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { type InTerminal, inTerminal, noTerminal } from './support/terminal.ts'
import { createWorkspace, type Workspace } from './support/workspace.ts'

beforeEach(({ skip }) => skip(noTerminal !== undefined, noTerminal))

/** A terminal in which the review of a text is approved, with an editor that is a shell script. */
async function review(workspace: Workspace, script: string | undefined): Promise<InTerminal> {
  await workspace.pawl('run', 'review', '--id', 'r:1')
  const editor = join(workspace.folder, 'editor.sh')
  if (script !== undefined) writeFileSync(editor, script)
  const env: Record<string, string> = script === undefined ? {} : { EDITOR: `sh ${editor}` }
  const terminal = inTerminal(workspace, ['answer', 'r:1/0'], env)
  await terminal.see('◆  Publish?')
  terminal.press('enter')
  if (script === undefined) return terminal
  await terminal.see('◆  Edit the artifact?')
  terminal.press('down', 'enter')
  return terminal
}

/** Leaves the comment out, and returns what the run got. */
async function finish(workspace: Workspace, terminal: InTerminal): Promise<unknown> {
  await terminal.see('◆  Comment')
  terminal.press('enter')
  expect(await terminal.end(), terminal.screen).toBe(0)
  const ended = await workspace.pawl('run', 'review', '--id', 'r:1', '--json')
  return JSON.parse(ended.stdout).output
}

test('a text that the editor only ends with a new line is unchanged', async () => {
  using workspace = await createWorkspace()
  await using terminal = await review(workspace, 'echo >> "$1"')
  expect(await finish(workspace, terminal)).toMatchObject({ artifact: 'old' })
})

test('an editor that fails is opened again, and what it saved before is not used', async () => {
  using workspace = await createWorkspace()
  const script = 'if [ -e failed ]; then printf new > "$1"; else touch failed; echo lost > "$1"; exit 3; fi'
  await using terminal = await review(workspace, script)
  await terminal.see('ended with status 3. Open it again?')
  terminal.press('down', 'enter')
  expect(await finish(workspace, terminal)).toMatchObject({ artifact: 'new' })
})

test('an editor that fails and is not opened again answers nothing', async () => {
  using workspace = await createWorkspace()
  await using terminal = await review(workspace, 'exit 3')
  await terminal.see('Open it again?')
  terminal.press('enter')
  await terminal.see('nothing was answered')
  expect(await terminal.end()).toBe(2)
  expect(JSON.parse((await workspace.pawl('inbox', '--json')).stdout)).toHaveLength(1)
})

test('without an editor the artifact stays as it is, and the ways to edit it are named', async () => {
  using workspace = await createWorkspace()
  await using terminal = await review(workspace, undefined)
  await terminal.see('set EDITOR, or pass --artifact @file')
  expect(await finish(workspace, terminal)).toMatchObject({ artifact: 'old' })
})

test('Ctrl-C in the editor belongs to the editor', async () => {
  using workspace = await createWorkspace()
  const script = 'trap "printf caught > $1; exit 0" INT; echo editing; while :; do sleep 0.05; done'
  await using terminal = await review(workspace, script)
  await terminal.see('editing')
  terminal.press('ctrl-c')
  expect(await finish(workspace, terminal)).toMatchObject({ artifact: 'caught' })
})
