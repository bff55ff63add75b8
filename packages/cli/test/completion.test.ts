import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWorkspace } from './support/workspace.ts'

/** How each shell is told to complete a line with the script in a file. */
const programs: Readonly<Record<string, (file: string, words: readonly string[]) => readonly string[]>> = {
  bash: (file, words) => [
    '-c',
    `source ${file}; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _pawl; echo "\${COMPREPLY[@]}"`,
  ],
  // Its completion needs a line editor, so only the script itself is checked.
  zsh: (file) => ['-n', file],
  fish: (file, words) => ['-c', `source ${file}; complete -C '${words.join(' ')}'`],
}

test.for(Object.keys(programs))('completes commands and flags in %s', async (shell, { skip }) => {
  using workspace = await createWorkspace()
  const { stdout, status } = await workspace.pawl('completion', shell)
  expect(status).toBe(0)
  expect(stdout).toContain('resume')
  const file = join(workspace.folder, 'completion')
  writeFileSync(file, stdout)
  skip(spawnSync(shell, ['--version']).error !== undefined, `${shell} is not installed`)
  const complete = (...words: readonly string[]) =>
    execFileSync(shell, programs[shell]?.(file, words) ?? [], { encoding: 'utf8' })
  if (shell === 'zsh') return void complete()
  expect(complete('pawl', 'an')).toMatch(/^answer/)
  expect(complete('pawl', 'log', '--fo')).toMatch(/^--follow/)
})

test('explains each command with --help, on stdout', async () => {
  using workspace = await createWorkspace()
  const { stdout, status } = await workspace.pawl('--help')
  expect(status).toBe(0)
  for (const name of ['run', 'resume', 'answer', 'inbox', 'cancel', 'dev', 'doctor']) {
    expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    const help = await workspace.pawl(name, '--help')
    expect(help).toMatchObject({ status: 0, stderr: '' })
    expect(help.stdout).toContain(`Usage: pawl ${name}`)
  }
  expect(await workspace.pawl('completion', 'tcsh')).toMatchObject({ status: 2, stdout: '' })
})
