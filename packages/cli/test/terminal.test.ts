import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inTerminal, noTerminal } from './support/terminal.ts'
import { createWorkspace } from './support/workspace.ts'

test('lists are aligned on a terminal', async ({ skip }) => {
  skip(noTerminal !== undefined, noTerminal)
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'changing', '--id', 'changing:1')
  await workspace.pawl('run', 'greet', '--input', '{"name":"Ada"}', '--id', 'g:1', '--tag', 'eu')
  await workspace.pawl('run', 'fail', '--id', 'fail:12')
  writeFileSync(join(workspace.folder, 'changed'), '')
  const screens: string[] = []
  for (const args of [
    ['ls'],
    ['ls', '--tag', 'none'],
    ['inbox'],
    ['inbox', '--to', 'group:none'],
    ['show', 'g:1'],
    ['show', 'fail:12'],
    ['check'],
  ]) {
    await using terminal = inTerminal(workspace, args)
    const status = await terminal.end()
    screens.push(`$ pawl ${args.join(' ')}\n${steady(terminal.screen)}exit ${status}\n`)
  }
  await expect(screens.join('\n')).toMatchFileSnapshot('golden/terminal.txt')
})

/** Replaces what differs from one time to the next by something of the same width. */
function steady(screen: string): string {
  return screen
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-01T00:00:00.000Z')
    .replace(/\b[0-9a-f]{16}\b/g, '0123456789abcdef')
    .replace(/ by user:\S+/g, ' by user:<me>')
}
