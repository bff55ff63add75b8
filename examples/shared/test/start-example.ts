import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, onTestFinished } from 'vitest'
import { type Child, startChild } from '../src/child.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const folders = new Map<string, Promise<string>>()

afterAll(async () => {
  for (const folder of folders.values()) await rm(await folder, { recursive: true, force: true })
})

/**
 * Starts a program of an example as a user does, in a process of its own; it is gone when the test has ended.
 * @param program as a path from the test, without its ending
 * @param beside the test, as a URL
 */
export async function startExample(
  program: string,
  beside: string,
  args: readonly string[] = [],
  env: { readonly [name: string]: string | undefined } = {},
): Promise<Child> {
  const source = fileURLToPath(new URL(program, beside))
  const folder = dirname(source)
  if (!folders.has(folder)) folders.set(folder, bundlePrograms(folder))
  const built = pathToFileURL(join((await folders.get(folder)) ?? '', 'any.mjs')).href
  const child = startChild(`./${relative(folder, source)}`, built, { args, env, node: [] })
  onTestFinished(async () => {
    await child.kill()
  })
  return child
}

/**
 * Each program of a folder in one file with the packages' sources, so that nothing has to be built first and a
 * start takes plain node a moment. They lie below node_modules for what they take from there.
 */
async function bundlePrograms(folder: string): Promise<string> {
  const files = await readdir(folder)
  const outdir = await mkdtemp(join(root, 'node_modules', '.pawl-example-'))
  await build({
    entryPoints: files.filter((file) => file.endsWith('.ts')).map((file) => join(folder, file)),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@pawl/source'],
    external: [
      'better-sqlite3',
      'msgpackr',
      'kysely',
      'pg',
      'zod',
      '@clack/prompts',
      'picocolors',
      'cli-table3',
      'ai',
    ],
    logLevel: 'error',
  })
  return outdir
}

/** A folder that is removed when the test has ended. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-example-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}
