import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { refuseForeign } from '../src/config/refuse-foreign.ts'
import { createWorkspace } from './support/workspace.ts'

test('what is written can be read by its owner only', async () => {
  using workspace = await createWorkspace()
  const before = process.umask(0)
  onTestFinished(() => void process.umask(before))
  await workspace.pawl('run', 'add', '--id', 'a:1')
  expect(await workspace.pawl('export', 'a:1', 'a.pawl')).toMatchObject({ status: 0 })
  expect(await workspace.pawl('backup', 'b.db')).toMatchObject({ status: 0 })
  expect(await workspace.pawl('token', 'make', 'user:ana')).toMatchObject({ status: 0 })
  for (const file of ['pawl.db', 'a.pawl', 'b.db', 'tokens.json'])
    expect([file, statSync(join(workspace.folder, file)).mode & 0o777]).toEqual([file, 0o600])
})

test('an export writes through no link that was left in its folder', async () => {
  using workspace = await createWorkspace()
  const { folder } = workspace
  await workspace.pawl('run', 'add', '--id', 'a:1')
  writeFileSync(join(folder, 'mine'), 'mine')
  mkdirSync(join(folder, 'shared'))
  symlinkSync(join(folder, 'mine'), join(folder, 'shared/a.pawl.part'))
  expect(await workspace.pawl('export', 'a:1', 'shared/a.pawl')).toMatchObject({ status: 0 })
  symlinkSync(join(folder, 'mine'), join(folder, 'shared/b.pawl'))
  expect(await workspace.pawl('export', 'a:1', 'shared/b.pawl', '--force')).toMatchObject({ status: 0 })
  expect(readFileSync(join(folder, 'mine'), 'utf8')).toBe('mine')
  expect(readdirSync(join(folder, 'shared')).sort()).toEqual(['a.pawl', 'a.pawl.part', 'b.pawl'])
})

test('a config in a folder that every user may write to is not executed, unless it is named', async () => {
  using workspace = await createWorkspace()
  const config = join(workspace.folder, 'pawl.config.js')
  writeFileSync(config, "globalThis.executed = true\nexport default { store: 'other.db' }")
  chmodSync(workspace.folder, 0o777)
  const ran = await workspace.pawl('ls', '--store', 'pawl.db')
  expect(ran).toMatchObject({ status: 2, stderr: expect.stringContaining(`--config ${config}`) })
  expect('executed' in globalThis).toBe(false)
  expect((await workspace.pawl('doctor', '--config', config)).stdout).toContain('other.db')
  chmodSync(workspace.folder, 0o1777)
  expect((await workspace.pawl('doctor')).stdout).toContain('other.db')
})

test('a config of another user is not executed', async () => {
  using workspace = await createWorkspace()
  const { folder } = workspace
  const config = join(folder, 'pawl.config.js')
  writeFileSync(config, 'export default {}')
  const own = statSync(config).uid
  refuseForeign(config, folder, own)
  const other = own === 0 ? 4321 : own
  if (own === 0) chownSync(config, other, other)
  expect(() => refuseForeign(config, folder, other + 1)).toThrow(/belongs to another user/)
  // As root, one executes what belongs to the owner of the folder that one works in, as in a container.
  if (own !== 0) return refuseForeign(config, folder, 0)
  expect(() => refuseForeign(config, folder, 0)).toThrow(/belongs to another user/)
  chownSync(folder, other, other)
  refuseForeign(config, folder, 0)
})
