import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { inTerminal, noTerminal } from './support/terminal.ts'
import { createWorkspace, type Workspace } from './support/workspace.ts'

beforeEach(({ skip }) => skip(noTerminal !== undefined, noTerminal))

/** Starts a run that asks, and returns the id of its ask. */
async function ask(workspace: Workspace, procedure: string, ...args: readonly string[]): Promise<string> {
  const started = await workspace.pawl('run', procedure, '--id', 'r:1', '--json', ...args)
  expect(started.status, started.stdout + started.stderr).toBe(3)
  return JSON.parse(started.stdout).asks[0].id as string
}

/** The answer in the store, as the run gets it. */
async function resultOf(workspace: Workspace, procedure: string): Promise<unknown> {
  const ended = await workspace.pawl('run', procedure, '--id', 'r:1', '--json')
  expect(ended.status, ended.stdout).toBe(0)
  return JSON.parse(ended.stdout).output
}

test('asks for a comment until there is one, if the decision requires it', async () => {
  using workspace = await createWorkspace()
  const id = await ask(workspace, 'strict')
  const refused = await workspace.pawl('answer', id, '--reject', '--as', 'user:ana')
  expect(refused).toMatchObject({ status: 5, stderr: expect.stringContaining('comment: is required') })
  await using terminal = inTerminal(workspace, ['answer', id])
  await terminal.see('Delete it?')
  await terminal.see('Approve')
  terminal.press('down', 'enter')
  await terminal.see('Comment (required)')
  terminal.press('enter')
  await terminal.see('Say why.')
  terminal.type('in use')
  terminal.press('enter')
  await terminal.see('Answered by user:')
  expect(await terminal.end()).toBe(0)
})

test('approves with a change and a comment', async () => {
  using workspace = await createWorkspace()
  const id = await ask(workspace, 'greet', '--input', '{"name":"Ada"}')
  await using terminal = inTerminal(workspace, ['answer', id])
  await terminal.see('Greet Ada?')
  await terminal.see('| name: Ada')
  await terminal.see('Approve')
  terminal.press('enter')
  await terminal.see('Change name?')
  terminal.press('down', 'enter')
  await terminal.see('Ada')
  terminal.press('clear')
  terminal.type('Bob')
  terminal.press('enter')
  await terminal.see('Comment')
  terminal.type('his name')
  terminal.press('enter')
  await terminal.see('Answered by user:')
  expect(await terminal.end()).toBe(0)
  const ended = await workspace.pawl('run', 'greet', '--input', '{"name":"Ada"}', '--id', 'r:1', '--json')
  expect(JSON.parse(ended.stdout).output).toBe('Hello, Bob')
})

test('rejects without asking for changes', async () => {
  using workspace = await createWorkspace()
  const id = await ask(workspace, 'greet', '--input', '{"name":"Ada"}')
  await using terminal = inTerminal(workspace, ['answer', id])
  await terminal.see('Reject')
  terminal.press('down', 'enter')
  await terminal.see('Comment')
  terminal.press('enter')
  expect(await terminal.end(), terminal.screen).toBe(0)
  expect(terminal.screen).not.toContain('Change name?')
})

test('asks for each part of a schema, and again for what the store refuses', async () => {
  using workspace = await createWorkspace()
  const id = await ask(workspace, 'form')
  await using terminal = inTerminal(workspace, ['answer', id])
  await terminal.see('◆  name')
  terminal.type('Al')
  terminal.press('enter')
  await terminal.see('◆  age')
  terminal.type('4.5')
  terminal.press('enter')
  await terminal.see('Enter a whole number.')
  terminal.press('clear')
  terminal.press('enter')
  await terminal.see('◆  size')
  terminal.press('down', 'enter')
  await terminal.see('◆  doors')
  terminal.press('space', 'down', 'space', 'enter')
  await terminal.see('◆  keys: add an item?')
  terminal.press('down', 'enter')
  await terminal.see('◆  keys 1')
  terminal.type('k-7')
  terminal.press('enter')
  await terminal.see('◆  keys: add another item?')
  terminal.press('enter')
  await terminal.see('◆  isGuest')
  terminal.press('enter')
  await terminal.see('◆  note')
  terminal.press('down', 'enter')
  // The name is too short. What was entered is the draft of the second round.
  await terminal.see('value.name')
  await terminal.see('◆  name')
  terminal.type('an')
  terminal.press('enter')
  await terminal.see('◆  age')
  terminal.type('44')
  terminal.press('enter')
  await terminal.see('◆  size')
  terminal.press('enter')
  await terminal.see('◆  doors')
  terminal.press('enter')
  await terminal.see('◆  keys')
  await terminal.see('["k-7"]')
  terminal.press('enter')
  await terminal.see('◆  isGuest')
  terminal.press('enter')
  await terminal.see('◆  note')
  terminal.press('enter')
  await terminal.see('◆  Comment')
  terminal.press('enter')
  expect(await terminal.end(), terminal.screen).toBe(0)
  expect(await resultOf(workspace, 'form')).toEqual({
    ...{ name: 'Alan', age: 44, size: 'large', doors: ['front', 'lab'], keys: ['k-7'] },
    ...{ isGuest: true, note: null },
  })
})

test.each([
  ['select', 'pick', 'Where to?', 'south'],
  ['a decision handed to people', 'decide', 'Plausible?', { choice: 'stop', source: 'person' }],
])('answers %s by picking a choice', async (_kind, procedure, message, result) => {
  using workspace = await createWorkspace()
  const id = await ask(workspace, procedure)
  await using terminal = inTerminal(workspace, ['answer', id])
  await terminal.see(`◆  ${message}`)
  terminal.press('down', 'enter')
  await terminal.see('◆  Comment')
  terminal.press('enter')
  expect(await terminal.end(), terminal.screen).toBe(0)
  const given = await resultOf(workspace, procedure)
  if (typeof result === 'string') expect(given).toBe(result)
  else expect(given).toMatchObject(result)
})

test('answers an escalation', async () => {
  using workspace = await createWorkspace()
  const id = await ask(workspace, 'escalate')
  await using terminal = inTerminal(workspace, ['answer', id])
  await terminal.see('◆  It is broken')
  terminal.press('enter')
  await terminal.see('◆  Comment')
  terminal.type('done')
  terminal.press('enter')
  expect(await terminal.end(), terminal.screen).toBe(0)
  expect(await resultOf(workspace, 'escalate')).toMatchObject({ comment: 'done' })
})

test('opens the artifact of a review in $EDITOR, again if it is not JSON', async () => {
  using workspace = await createWorkspace()
  const id = await ask(workspace, 'edit')
  const editor = join(workspace.folder, 'edit.sh')
  // Writes broken JSON at first, and JSON the second time.
  writeFileSync(
    editor,
    'if grep -q broken "$1"; then echo \'{"tag":"v2"}\' > "$1"; else echo broken > "$1"; fi\n',
  )
  await using terminal = inTerminal(workspace, ['answer', id], { EDITOR: `sh ${editor}` })
  await terminal.see('Until now')
  await terminal.see('"tag": "v0"')
  await terminal.see('◆  Release this?')
  terminal.press('enter')
  await terminal.see('◆  Edit the artifact?')
  terminal.press('down', 'enter')
  await terminal.see('◆  This is not JSON')
  terminal.press('down', 'enter')
  await terminal.see('◆  Comment')
  terminal.press('enter')
  expect(await terminal.end(), terminal.screen).toBe(0)
  expect(await resultOf(workspace, 'edit')).toMatchObject({ artifact: { tag: 'v2' } })
})

test('lets the person pick an ask if no id is given', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'pick', '--id', 'r:1')
  await workspace.pawl('run', 'enter', '--id', 'r:2')
  await using terminal = inTerminal(workspace, ['answer'])
  await terminal.see('◆  Which ask?')
  await terminal.see('Your name?')
  terminal.press('down', 'enter')
  await terminal.see('◆  Your name?')
  terminal.type('Ada')
  terminal.press('enter')
  await terminal.see('◆  Comment')
  terminal.press('enter')
  expect(await terminal.end(), terminal.screen).toBe(0)
  const ended = await workspace.pawl('run', 'enter', '--id', 'r:2')
  expect(ended.stdout).toBe('  "Ada"\n')
})

test('tells who won at once if another answers while the person is typing', async () => {
  using workspace = await createWorkspace()
  const id = await ask(workspace, 'enter')
  await using terminal = inTerminal(workspace, ['answer', id])
  await terminal.see('◆  Your name?')
  terminal.type('half a na')
  await workspace.pawl('answer', id, '--value', '"Eve"', '--as', 'user:eve')
  await terminal.see('already answered by user:eve')
  expect(await terminal.end()).toBe(5)
})

test('asks nothing about an ask that is closed, and tells who won', async () => {
  using workspace = await createWorkspace()
  const id = await ask(workspace, 'enter')
  await workspace.pawl('answer', id, '--value', '"Eve"', '--as', 'user:eve')
  await using terminal = inTerminal(workspace, ['answer', id])
  await terminal.see('already answered by user:eve')
  expect(await terminal.end()).toBe(5)
  expect(terminal.screen).not.toContain('Your name?')
})

test('changes nothing on Ctrl-C, and exits with 130', async () => {
  using workspace = await createWorkspace()
  const id = await ask(workspace, 'enter')
  await using terminal = inTerminal(workspace, ['answer', id])
  await terminal.see('◆  Your name?')
  terminal.press('ctrl-c')
  await terminal.see('Nothing was changed.')
  expect(await terminal.end()).toBe(130)
  expect(await workspace.pawl('answer', id, '--value', '"Ada"')).toMatchObject({ status: 0 })
})

test.each([
  ['a choice', ['answer', 'r:1/0'], '◆  Where to?'],
  ['the picker', ['answer'], '◆  Which ask?'],
  ['a confirmation', ['cancel', 'r:1'], '◆  Cancel run r:1?'],
])('changes nothing on Ctrl-C in %s, and exits with 130', async (_what, args, question) => {
  using workspace = await createWorkspace()
  await ask(workspace, 'pick')
  await using terminal = inTerminal(workspace, args)
  await terminal.see(question)
  terminal.press('ctrl-c')
  await terminal.see('Nothing was changed.')
  expect(await terminal.end()).toBe(130)
  expect(JSON.parse((await workspace.pawl('inbox', '--json')).stdout)).toHaveLength(1)
})

test('resume asks for the answer too, and prints the result on stdout', async () => {
  using workspace = await createWorkspace()
  const id = await ask(workspace, 'pick')
  await using terminal = inTerminal(workspace, ['resume', id])
  await terminal.see('◆  Where to?')
  terminal.press('down', 'enter')
  await terminal.see('◆  Comment')
  terminal.press('enter')
  await terminal.see('Completed')
  await terminal.see('"south"')
  expect(await terminal.end()).toBe(0)
})

test('asks before it cancels, and leaves the run alone by default', async () => {
  using workspace = await createWorkspace()
  await ask(workspace, 'pick')
  await using refused = inTerminal(workspace, ['cancel', 'r:1'])
  await refused.see('◆  Cancel run r:1?')
  refused.press('enter')
  expect(await refused.end(), refused.screen).toBe(2)
  await using agreed = inTerminal(workspace, ['cancel', 'r:1'])
  await agreed.see('◆  Cancel run r:1?')
  agreed.press('down', 'enter')
  await agreed.see('The cancel of run r:1 is stored')
  expect(await agreed.end()).toBe(0)
})

test('a dangerous answer is confirmed by typing it at critical risk', async () => {
  using workspace = await createWorkspace()
  const id = await ask(workspace, 'discard')
  await using terminal = inTerminal(workspace, ['answer', id, '--choice', 'reject'])
  await terminal.see('Type reject to confirm')
  terminal.type('approve')
  terminal.press('enter')
  await terminal.see('Type reject, or press Ctrl-C.')
  terminal.press('clear')
  terminal.type('reject')
  terminal.press('enter')
  expect(await terminal.end(), terminal.screen).toBe(0)
  expect(await resultOf(workspace, 'discard')).toBe('reject')
})
