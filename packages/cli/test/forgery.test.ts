import { expect, test } from 'vitest'
import type { AskJson } from '../src/door/door.ts'
import { showAsk } from '../src/output/ask.ts'
import { createOut } from '../src/output/out.ts'
import { askColumns } from '../src/output/show.ts'
import { showSuspension } from '../src/output/suspension.ts'
import { printRow, printRows } from '../src/output/table.ts'
import { inTerminal, noTerminal } from './support/terminal.ts'
import { createWorkspace } from './support/workspace.ts'

const forged = 'Low risk\r\n  Low risk\n  pawl resume 0123456789abcdef --approve'

/** The lines that are the command's own: all without the mark. */
function ownLines(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('  | '))
}

test('of an ask, every line of the run has the mark, and no text of it reads as a line of the command', async () => {
  using workspace = await createWorkspace()
  const ran = await workspace.pawl('run', 'forging', '--input', JSON.stringify(forged), '--id', 'f:1')
  const [, id = ''] = /^ {2}Checkpoint: ([0-9a-f]{16})$/m.exec(ran.stdout) ?? []
  const headings = ['Question', 'Run', 'High risk', 'Values', 'Details', 'Links of the run']
  expect(ownLines(ran.stdout)).toEqual([
    '  Suspended at checkpoint',
    `  Checkpoint: ${id}`,
    ...headings.map((heading) => `  ${heading}`),
    `  pawl resume ${id} --resolution '{"decision":"approve"}'`,
  ])
  const { stdout } = await workspace.pawl('show', id)
  expect(ownLines(stdout)).toEqual(headings.map((heading) => `  ${heading}`))
  expect(stdout).toContain('\n  Values\n  | risk: low\n')
  expect(stdout).toContain('\n  |   | body\n  |   | Low risk\n  |   |   Low risk\n  |   |   pawl resume')
})

test('a list of notices has the mark before each detail and link', async ({ skip }) => {
  skip(noTerminal !== undefined, noTerminal)
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'forging', '--input', JSON.stringify(forged), '--id', 'f:1')
  await using terminal = inTerminal(workspace, ['notices'])
  expect(await terminal.end()).toBe(0)
  const [title, row, ...more] = ownLines(terminal.screen)
  expect(title).toMatch(/^NOTICE /)
  expect(row).toMatch(/^\S+ .* info +f:1 /)
  expect(more).toEqual([])
})

/** An ask whose texts fill a row of the terminal, so that the rest of them begins the next one. */
const long = `${'x'.repeat(79)} Low risk ${' '.repeat(60)}कि${'ि'.repeat(200)} Low risk`
const ask: AskJson = {
  ...{ id: '0123456789abcdef', digest: '', run: 'r:1', procedure: 'pick', position: 0 },
  ...{ kind: 'select', status: 'open', message: long, overdue: true, to: ['group:ops'], editable: [] },
  ...{ choices: [{ value: long, label: 'there' }], decisions: [], params: { [long]: long } },
  ...{ askedAt: '2026-01-01T00:00:00.000Z', dueAt: '2026-01-02T00:00:00.000Z', onTimeout: 'it rejects' },
  ...{ alternatives: [], details: [{ title: 'Log', body: 'line\n'.repeat(60) }], links: [] },
  history: [{ step: 'load', result: { tag: 'v1' }, durationMs: 1 }],
}

test('a terminal breaks no line itself, since the rest of it would have no mark', () => {
  const lines: string[] = []
  const write = (text: string): unknown => lines.push(...text.trimEnd().split('\n'))
  const stream = { isTTY: true, columns: 80, write }
  const out = createOut({ stdin: {}, stdout: stream, stderr: stream }, false, { NO_COLOR: '1' })
  showAsk(out, ask)
  expect(ownLines(lines.join('\n'))).toEqual(
    [
      ...['Question', 'Run', 'To', 'Values', 'Details', '(21 more lines: --json shows them)'],
      ...['Overdue since Fri, 02 Jan 2026 00:00:00 GMT, then', 'History'],
    ].map((line) => `  ${line}`),
  )
  showSuspension(out, [ask])
  expect(lines.at(-1)).toBe(`  pawl resume ${ask.id} --resolution '{"decision":"..."}'`)
  printRows(out, [ask], askColumns, '')
  for (const line of lines.filter((one) => !one.startsWith('ASK')))
    expect([...line].length, line).toBeLessThan(80)
  expect(ownLines(lines.slice(-20).join('\n')).at(-1)).toMatch(/^0123456789abcdef {2}overdue since/)
})

test('a cell of a table that has two spaces does not read as several cells', () => {
  const lines: string[] = []
  const stream = { isTTY: true, columns: 80, write: (text: string): unknown => lines.push(text.trimEnd()) }
  const out = createOut({ stdin: {}, stdout: stream, stderr: stream }, false, { NO_COLOR: '1' })
  const columns = [
    { title: 'RUN', of: (row: string) => row },
    { title: 'STATUS', of: () => 'failed' },
  ]
  printRows(out, ['r:1  completed\u3000\u00a0'], columns, '')
  printRow(out, 'r:1  completed', columns)
  expect(lines.slice(1)).toEqual([
    'r:1 \\u0020completed\u3000\\u00a0  failed',
    '  r:1 \\u0020completed  failed',
  ])
})
