import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type InTerminal, noTerminal, programInTerminal } from './support/terminal.ts'
import { createWorkspace, root, type Workspace } from './support/workspace.ts'

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

/** Returns a function that types a line with a tab, shows the words that come of it, and expects these. */
function wordsIn(terminal: InTerminal, program = 'pawl') {
  return async (typed: string, ...words: readonly string[]): Promise<void> => {
    const seen = terminal.screen.length
    terminal.type(`${program} ${typed}\t`)
    // The line is taken once the completion has been printed.
    await terminal.see(words.at(-1)?.slice(-3) ?? '')
    // To its begin, where the program is replaced.
    terminal.type('\x01given \r')
    await terminal.see('given:')
    await terminal.see('\n')
    const line = terminal.screen.slice(seen).match(/given:.*>/)?.[0]
    expect(line, terminal.screen).toMatch(/^given:<[^>]*pawl>/)
    expect(line?.replace(/^given:<[^>]*>/, ''), terminal.screen).toBe(
      words.map((word) => `<${word}>`).join(''),
    )
  }
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
    const expectWords = wordsIn(terminal)
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

test.for(Object.keys(shells))(
  '%s inserts an id as one word that runs nothing, also behind an open quote',
  async (shell, { skip }) => {
    skip(noTerminal !== undefined, noTerminal)
    skip(spawnSync(shell, ['--version']).error !== undefined, `${shell} is not installed`)
    using workspace = await createShellWorkspace()
    // Each ends with three signs that no shell escapes.
    const ids = ['x$(touch made)abc', "y';touch made;'abc", 'a\\b"c`touch made`def', 'q,b{1:two', 'm@n:odd']
    for (const id of ids) expect(await workspace.pawl('run', 'add', '--id', id)).toMatchObject({ status: 0 })
    await using terminal = await openShell(workspace, shell)
    const expectWords = wordsIn(terminal)
    // Bash cannot escape a quote between single quotes, and offers nothing there.
    for (const id of ids)
      for (const quote of ['', '"', "'"])
        if (shell !== 'bash' || quote !== "'" || !id.includes("'"))
          await expectWords(`show ${quote}${id[0]}`, 'show', id)
    if (shell !== 'fish') await expectWords('show "m@n":', 'show', 'm@n:odd')
    await wordsIn(terminal, '~/bin/pawl')('show m', 'show', 'm@n:odd')
    if (shell === 'bash') {
      await expectWords('show q,b{1:', 'show', 'q,b{1:two')
      terminal.type("pawl show 'y\t")
      await terminal.see('\x07')
      terminal.type("'\x01given \r")
      await terminal.see('<pawl><show><y>')
    }
    terminal.type('exit\r')
    await terminal.end()
    expect(existsSync(join(workspace.folder, 'made'))).toBe(false)
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
  expect(await complete('show', '--store=pawl.db', '')).toHaveLength(2)
  expect(await complete('show', '--store=none.db', '')).toEqual([])
  // What cannot be reached is left out, and what is not there is not created.
  expect(await complete('show', '--server', 'http://127.0.0.1:9', '')).toEqual([])
  expect(await complete('show', '--store', 'none.db', '')).toEqual([])
  expect(await complete('ls', '--store', 'none.db', '--sta')).toEqual([expect.stringMatching(/^--status\t/)])
})

test('what a module prints while it is loaded is no candidate', async () => {
  using workspace = await createWorkspace({ processes: true })
  const noisy = "console.log('hasty but printed'); export * from './procedures.js'"
  writeFileSync(join(workspace.folder, 'noisy.js'), noisy)
  expect(await workspace.pawl('complete', '--', 'run', '--procedures', 'noisy.js', 'hast')).toEqual({
    ...{ status: 0, stdout: 'hasty\n', stderr: 'hasty but printed\n' },
  })
})

test('a completion changes no store: it leaves a migration, and a copy that becomes a store, to others', async () => {
  using workspace = await createWorkspace()
  const { folder } = workspace
  copyFileSync(join(root, 'test/golden/logs/0.1.0-ends-schema-9.db'), join(folder, 'old.db'))
  await workspace.pawl('run', 'add', '--id', 'a:1')
  await workspace.pawl('backup', 'copy.db')
  for (const store of ['old.db', 'copy.db']) {
    const before = readFileSync(join(folder, store))
    expect(await workspace.pawl('complete', '--', 'show', '--store', store, '')).toEqual({
      ...{ status: 0, stdout: '', stderr: '' },
    })
    expect(readFileSync(join(folder, store)).equals(before), store).toBe(true)
    // Others open it, and then its runs are offered.
    await workspace.pawl('ls', '--store', store)
    const { stdout } = await workspace.pawl('complete', '--', 'show', '--store', store, '')
    expect(stdout).not.toBe('')
  }
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
