import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWorkspace } from './support/workspace.ts'

const broken = `import { procedure } from '@pawl/core'

export const broken = procedure({ name: 'broken' }, async (ctx) => {
  const one: number = await ctx.step('one', () => 1)
  const { missing } = JSON.parse('{}') as { missing?: string }
  return one + (missing as string).length
})
`

test.each(['commonjs', 'module'])(
  'names a place in a TypeScript project of type %s by file and line',
  async (type) => {
    using workspace = await createWorkspace()
    const { folder, env, program } = workspace
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }))
    rmSync(join(folder, 'procedures.js'))
    writeFileSync(join(folder, 'procedures.ts'), broken)
    // No loader but the one that the command line finds in the project.
    const pawl = (...args: readonly string[]): string => {
      try {
        return execFileSync(process.execPath, ['--conditions=@pawl/source', ...program, ...args], {
          ...{ cwd: folder, env, encoding: 'utf8' },
        })
      } catch (error) {
        const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
        return stdout + stderr
      }
    }
    expect(pawl('run', 'broken', '--id', 'b:1')).toMatch(/stuck: .*procedures\.ts:6:\d+/)
    const shown = pawl('show', 'b:1', '--json')
    expect(JSON.parse(shown)).toMatchObject({ status: 'stuck' })
    expect(shown).toMatch(/procedures\.ts:6:/)
    expect(shown).not.toContain('data:')
  },
)

const readers = [
  'ls',
  'inbox',
  'show a:1',
  'log a:1',
  'check',
  'checkpoints ls',
  'answer a:1/0 --approve',
  'resume a:1/0 --approve',
  'signal a:1 go',
  'cancel a:1',
  'retry a:1',
  'fork a:1 --at 0',
  'delete a:1',
  'export a:1 b.pawl',
]

test('a command that works on what is stored refuses a store that is not there, and makes none', async () => {
  using workspace = await createWorkspace()
  const before = readdirSync(workspace.folder)
  for (const line of readers) {
    const ran = await workspace.pawl(...line.split(' '), '--store', 'misspelt.db')
    expect(ran, line).toMatchObject({ status: 7, stdout: '' })
    expect(ran.stderr, line).toMatch(/There is no store .*misspelt\.db \(--store\)/)
  }
  expect(await workspace.pawl('ls')).toMatchObject({
    status: 7,
    stderr: expect.stringContaining('Change to the folder'),
  })
  expect((await workspace.pawl('doctor')).stdout).toContain('not created yet')
  expect(readdirSync(workspace.folder)).toEqual(before)
})

test.each([
  ['--store posgres://ana:secret@db/x', /no store with the scheme posgres:\/\/ \(--store\)/],
  ['--store mysql://db/x', /no store with the scheme mysql:\/\//],
  ['--server http://ana:secret@127.0.0.1:9', /must have no user and no password/],
  ['--server ana:secret@127.0.0.1:9', /must be an address such as/],
])('an address that cannot be used is named without its password: %s', async (flags, says) => {
  using workspace = await createWorkspace()
  const ran = await workspace.pawl('ls', ...flags.split(' '))
  expect(ran).toMatchObject({ status: 2, stdout: '' })
  expect(ran.stderr).toMatch(says)
  expect(ran.stderr).not.toContain('secret')
})

test('a store that does not answer is named without its password', async () => {
  using workspace = await createWorkspace()
  const ran = await workspace.pawl('ls', '--store', 'postgres://ana:se@cret@127.0.0.1:9/x?password=secret')
  expect(ran.status).toBe(7)
  expect(ran.stderr).not.toContain('cret')
})
