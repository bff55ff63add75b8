import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type InTerminal, noTerminal, programInTerminal } from './support/terminal.ts'
import { createWorkspace, type Workspace } from './support/workspace.ts'

/** How a shell without its owner's settings is started, and how the script is loaded into it. */
const shells: Readonly<Record<string, { readonly start: readonly string[]; readonly load: string }>> = {
  bash: { start: ['bash', '--norc', '--noprofile', '-i'], load: 'source ./completion' },
  zsh: { start: ['zsh', '-f'], load: 'autoload -Uz compinit && compinit -u -D && source ./completion' },
  fish: { start: ['fish', '--no-config'], load: 'source ./completion' },
}

/** A folder with a program `pawl` for its shells. */
async function createShellWorkspace(): Promise<Workspace> {
  const workspace = await createWorkspace()
  const { folder, program, env } = workspace
  mkdirSync(join(folder, 'bin'))
  const command = [process.execPath, ...program].map((word) => `'${word}'`).join(' ')
  writeFileSync(join(folder, 'bin/pawl'), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 })
  // Shows each word that it was given.
  writeFileSync(join(folder, 'bin/given'), '#!/bin/sh\nprintf "given:"; printf "<%s>" "$@"; echo\n', {
    mode: 0o755,
  })
  return { ...workspace, env: { ...env, PATH: `${join(folder, 'bin')}:${env['PATH']}` } }
}

async function openShell(workspace: Workspace, shell: string): Promise<InTerminal> {
  const { start, load } = shells[shell] as (typeof shells)[string]
  const { stdout } = await workspace.pawl('completion', shell)
  writeFileSync(join(workspace.folder, 'completion'), stdout)
  const terminal = programInTerminal(workspace, start)
  // Split, so that only its output reads like it, and not the line that was typed.
  terminal.type(`${load}; echo rea""dy\r`)
  await terminal.see('ready')
  return terminal
}

test.for(Object.keys(shells))(
  '%s completes commands, flags, procedures, ids of runs and files',
  async (shell, { skip }) => {
    skip(noTerminal !== undefined, noTerminal)
    skip(spawnSync(shell, ['--version']).error !== undefined, `${shell} is not installed`)
    using workspace = await createShellWorkspace()
    for (const id of ['plain', 'colons:of:it', "it's here", 'two words', 'at@sign=x'])
      expect(await workspace.pawl('run', 'add', '--id', id)).toMatchObject({ status: 0 })
    writeFileSync(join(workspace.folder, 'some-export.pawl'), '')
    await using terminal = await openShell(workspace, shell)
    /** Types a line with a tab, shows the words that come of it, and expects these. */
    const expectWords = async (typed: string, ...words: readonly string[]): Promise<void> => {
      const seen = terminal.screen.length
      terminal.type(`pawl ${typed}\t`)
      // The line is taken once the completion has been printed.
      await terminal.see(words.at(-1)?.slice(-3) ?? '')
      // To its begin, where the program is replaced.
      terminal.type('\x01given \r')
      await terminal.see('given:')
      await terminal.see('\n')
      const line = terminal.screen.slice(seen).match(/given:.*>/)?.[0]
      expect(line, terminal.screen).toBe(`given:${['pawl', ...words].map((word) => `<${word}>`).join('')}`)
    }
    await expectWords('doc', 'doctor')
    await expectWords('checkpoints cle', 'checkpoints', 'cleanup')
    await expectWords('log plain --fol', 'log', 'plain', '--follow')
    await expectWords('run hast', 'run', 'hasty')
    await expectWords('ls --procedure hast', 'ls', '--procedure', 'hasty')
    await expectWords('show pl', 'show', 'plain')
    await expectWords('show col', 'show', 'colons:of:it')
    await expectWords('show colons:o', 'show', 'colons:of:it')
    await expectWords('show two', 'show', 'two words')
    await expectWords('show it', 'show', "it's here")
    await expectWords('show at@s', 'show', 'at@sign=x')
    await expectWords('cancel --reason "two words" --stat', 'cancel', '--reason', 'two words', '--status')
    await expectWords('import some', 'import', 'some-export.pawl')
    // A shell writes its history when it ends.
    terminal.type('exit\r')
    await terminal.end()
  },
)

test('completes by what is meant: statuses, shells, asks, runs that a command works on, nothing at free text', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'add', '--id', 'a:1')
  await workspace.pawl('run', 'pick', '--id', 'p:1')
  const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { status, stdout, stderr } = await workspace.pawl('complete', '--', ...words)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    return stdout.split('\n').slice(0, -1)
  }
  expect(await complete('ls', '--status', 'st')).toEqual(['stuck'])
  expect(await complete('completion', '')).toEqual(['bash', 'zsh', 'fish'])
  expect(await complete('show', '')).toEqual(['p:1\twaiting, pick', 'a:1\tcompleted, add'])
  expect(await complete('cancel', '')).toEqual(['p:1\twaiting, pick'])
  expect(await complete('cancel', 'p:1', '')).toEqual(['p:1\twaiting, pick'])
  expect(await complete('answer', '')).toEqual([expect.stringMatching(/^[0-9a-f]{16}\tWhere to\? \(p:1\)$/)])
  expect(await complete('run', 'add', '--id', '')).toEqual([])
  expect(await complete('help', 'comp')).toEqual([expect.stringMatching(/^completion\t/)])
  expect(await complete('migrate', '--ser')).toEqual([])
  expect(await complete('nonsense', '')).toEqual([])
  // What cannot be reached is left out, and what is not there is not created.
  expect(await complete('show', '--server', 'http://127.0.0.1:9', '')).toEqual([])
  expect(await complete('show', '--store', 'none.db', '')).toEqual([])
  expect(await complete('ls', '--store', 'none.db', '--sta')).toEqual([expect.stringMatching(/^--status\t/)])
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
  const { stdout: install } = await workspace.pawl('completion', '--help')
  for (const shell of Object.keys(shells)) expect(install).toContain(`pawl completion ${shell}`)
  expect(await workspace.pawl('completion', 'tcsh')).toMatchObject({ status: 2, stdout: '' })
})
