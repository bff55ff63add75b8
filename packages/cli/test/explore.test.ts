import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWorkspace } from './support/workspace.ts'

test('explore prints how a procedure can end, and exits with 1 if a step can act without consent', async () => {
  using workspace = await createWorkspace()
  const harmless = await workspace.pawl('explore', 'greet', '--input', '{"name":"Ada"}', '--never', 'send')
  expect(harmless).toMatchObject({ status: 0, stderr: '' })
  expect(harmless.stdout).toBe(
    [
      'Explored greet: 3 paths, 0 outcomes left out.',
      '  1  completed: Hello, Ada',
      '  1  completed: Hello, Ada (edited)',
      '  1  completed: silence',
      '',
    ].join('\n'),
  )
  const hasty = await workspace.pawl('explore', 'hasty', '--never', 'delete')
  expect(hasty.status).toBe(1)
  expect(hasty.stdout).toBe(
    [
      'Explored hasty: 3 paths, 0 outcomes left out.',
      '  2  completed: deleted',
      '  1  completed: kept',
      '1 violation:',
      '  step "delete": no person said yes',
      '    Delete?: no answer',
      '',
    ].join('\n'),
  )
})

test('explore finds a question that nothing awaits without being told, unless it is told not to', async () => {
  using workspace = await createWorkspace()
  const forgetful = await workspace.pawl('explore', 'forgetful')
  expect(forgetful).toMatchObject({ status: 1, stderr: '' })
  expect(forgetful.stdout).toBe(
    [
      'Explored forgetful: 2 paths, 1 outcome left out.',
      '  2  completed: undefined',
      '2 violations:',
      '  step "delete": it follows "Delete?", whose answer nothing awaits (act-beside-question)',
      '    sleep is over',
      '  "Delete?" is answered, and nothing awaits the answer (unread-answer)',
      '    Delete?: yes',
      '    sleep is over',
      '',
    ].join('\n'),
  )
  const ignored = ['--ignore', 'unread-answer', '--ignore', 'act-beside-question']
  expect(await workspace.pawl('explore', 'forgetful', ...ignored)).toMatchObject({ status: 0 })
  const { stdout } = await workspace.pawl('explore', 'forgetful', '--ignore', 'unread-answer', '--json')
  expect(JSON.parse(stdout)).toMatchObject({
    violations: [{ step: 'delete', act: 'step', rule: 'act-beside-question' }],
  })
  const unknown = await workspace.pawl('explore', 'forgetful', '--ignore', 'unread')
  expect(unknown).toMatchObject({ status: 2, stderr: expect.stringContaining('ignore[0] of explore') })
})

test('explore calls a child a child', async () => {
  using workspace = await createWorkspace()
  const { stdout } = await workspace.pawl('explore', 'hurried', '--ignore', 'unread-answer')
  expect(stdout).toContain(
    '  child "leaf": it follows "Begin?", whose answer nothing awaits (act-beside-question)\n',
  )
})

test('explore reads doubles and rules from a module, and prints JSON', async () => {
  using workspace = await createWorkspace()
  const options = "{ never: [{ step: /^del/, unless: { ask: 'Lunch?' } }], cancel: true }"
  writeFileSync(join(workspace.folder, 'rules.js'), `export default ${options}`)
  const { status, stdout } = await workspace.pawl('explore', 'hasty', '--with', 'rules.js', '--json')
  expect(status).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({
    truncated: false,
    violations: [
      { step: 'delete', rule: { step: '/^del/', unless: { ask: 'Lunch?' } }, outcomes: ['Delete?: yes'] },
      ...[{}, {}, {}],
    ],
  })
})

test('explore says what is missing', async () => {
  using workspace = await createWorkspace()
  const unknown = await workspace.pawl('explore', 'gret')
  expect(unknown).toMatchObject({ status: 4, stderr: expect.stringContaining('There is no procedure gret.') })
  const invalid = await workspace.pawl('explore', 'greet')
  expect(invalid).toMatchObject({ status: 5, stderr: expect.stringContaining('expected object') })
  writeFileSync(join(workspace.folder, 'none.js'), 'export const steps = {}')
  const noDefault = await workspace.pawl('explore', 'add', '--with', 'none.js')
  expect(noDefault).toMatchObject({ status: 2, stderr: expect.stringContaining('as its default') })
})
