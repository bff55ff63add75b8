import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWorkspace, startDev } from './support/workspace.ts'

const own = (process.features as { readonly typescript?: string | false }).typescript
const reason = `Node ${process.versions.node} does not load TypeScript`

test('Node loads procedures and a config in TypeScript by itself', async ({ skip }) => {
  skip(!own, reason)
  using workspace = await createWorkspace({ typescript: 'by-node' })
  expect(await workspace.pawl('run', 'add', '--id', 'a:1')).toMatchObject({ status: 0, stdout: '  2\n' })
  expect(await workspace.pawl('check', 'a:1')).toMatchObject({ status: 0 })

  renameSync(join(workspace.folder, 'procedures.ts'), join(workspace.folder, 'other.mts'))
  const config =
    "import { defineConfig } from '@pawl/cli'\nexport default defineConfig({ procedures: './other.mts' })\n"
  writeFileSync(join(workspace.folder, 'pawl.config.ts'), config)
  expect(await workspace.pawl('run', 'add', '--id', 'a:2')).toMatchObject({ status: 0, stdout: '  2\n' })

  writeFileSync(join(workspace.folder, 'other.mts'), 'export enum Color { red }\n')
  expect(await workspace.pawl('run', 'add')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('other.mts cannot be loaded'),
  })
})

test('dev works on procedures that Node loads by itself', async ({ skip }) => {
  skip(!own, reason)
  using workspace = await createWorkspace({ typescript: 'by-node' })
  const dev = await startDev(workspace)
  try {
    await dev.line(/Working\./)
  } finally {
    dev.child.kill('SIGTERM')
  }
})
