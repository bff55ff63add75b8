import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../../../../test/support/bundle.ts'
import { hasNodeSqlite } from '../../src/connection/node-sqlite.ts'
import { makeDirectory, removeDirectory } from '../support/subject.ts'

// A process of its own, in a folder where the driver is not installed, or has no binary, or one that is broken.
const folder = makeDirectory()
let program = ''

beforeAll(async () => {
  const bundled = await bundle(fileURLToPath(new URL('../programs/opening.ts', import.meta.url)))
  program = join(folder, basename(bundled))
  cpSync(bundled, program)
  rmSync(dirname(bundled), { recursive: true })
})
afterAll(() => removeDirectory(folder))

async function open(): Promise<{ readonly what: string; readonly remedy: string }> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, join(folder, 'pawl.db')], {
    env: { ...process.env, NODE_PATH: '' },
  })
  return JSON.parse(stdout)
}

/** Installs the scripts of the driver without its binary. Returns its folder. */
function installScripts(): string {
  const { resolve } = createRequire(import.meta.url)
  const driver = dirname(dirname(resolve('better-sqlite3')))
  const installed = join(folder, 'node_modules')
  for (const name of readdirSync(dirname(driver)).filter((one) =>
    ['bindings', 'file-uri-to-path'].includes(one),
  ))
    cpSync(realpathSync(join(dirname(driver), name)), join(installed, name), { recursive: true })
  const own = join(installed, 'better-sqlite3')
  for (const part of ['lib', 'package.json']) cpSync(join(driver, part), join(own, part), { recursive: true })
  return own
}

const isOffered = hasNodeSqlite(process.versions)
const offer = isOffered
  ? "Or use the SQLite of Node, which needs no native module: `sqlite(file, { driver: 'node' })`."
  : `Or use Node 22.23, 24.21 or later, where \`sqlite(file, { driver: 'node' })\` needs no native module; Node ${process.versions.node} does not have it.`

test('a better-sqlite3 that cannot be loaded is reported, and the driver of Node is offered where there is one', async () => {
  const missing = await open()
  expect(missing.what).toContain('better-sqlite3 is not installed.')
  expect(missing.remedy).toBe(`Run \`npm install better-sqlite3\`. ${offer}`)

  const driver = installScripts()
  const unbuilt = await open()
  expect(unbuilt.what).toContain(`better-sqlite3 has no binary that Node ${process.versions.node} can load.`)
  expect(unbuilt.remedy).toContain('npm rebuild better-sqlite3')
  expect(unbuilt.remedy).toContain(offer)

  const binary = join(driver, 'build/Release/better_sqlite3.node')
  mkdirSync(dirname(binary), { recursive: true })
  writeFileSync(binary, 'not a library')
  expect(await open()).toEqual(unbuilt)
})
