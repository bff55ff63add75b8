import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noTerminal, programInTerminal } from './support/terminal.ts'
import { createWorkspace } from './support/workspace.ts'

/** How each shell is told to complete a line with the script in a file. */
const programs: Readonly<Record<string, (file: string, words: readonly string[]) => readonly string[]>> = {
  bash: (file, words) => [
    '-c',
    `source ${file}; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _pawl; echo "\${COMPREPLY[@]}"`,
  ],
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
  expect(complete('pawl', 'an')).toMatch(/^answer/)
  expect(complete('pawl', 'log', '--fo')).toMatch(/^--follow/)
})

// Its completion needs a line editor, and so a terminal.
test('completes commands and flags in zsh', async ({ skip }) => {
  skip(noTerminal !== undefined, noTerminal)
  skip(spawnSync('zsh', ['--version']).error !== undefined, 'zsh is not installed')
  using workspace = await createWorkspace()
  const { stdout } = await workspace.pawl('completion', 'zsh')
  writeFileSync(join(workspace.folder, 'completion'), stdout)
  await using shell = programInTerminal(workspace, ['zsh', '-f'])
  // Written so that only the prompt itself reads like it.
  shell.type("PS1='rea''dy> '\r")
  await shell.see('ready> ')
  shell.type('autoload -Uz compinit && compinit -u -D && source ./completion\r')
  await shell.see('ready> ')
  shell.type('pawl doc\t')
  await shell.see('pawl doctor ')
  shell.type('\x15pawl log --fol\t')
  await shell.see('pawl log --follow')
  shell.type('\x15exit\r')
  await shell.end()
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
